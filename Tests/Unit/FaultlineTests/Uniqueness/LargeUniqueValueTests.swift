import Faultline
import FaultlineTestSupport
import Testing

@Model final class Page {
    #Unique<Page>([\.site, \.path])

    @Attribute(.unique) var address: String
    @Attribute(.unique, .externalStorage) var digest: Data?
    var site: String?
    var path: String?
    var visits: Int = 0
    var body: String = ""
    var picture: Data?

    init(_ address: String, visits: Int = 0) {
        self.address = address
        self.visits = visits
    }
}

@Suite struct LargeUniqueValueTests {
    private static func text(_ byteCount: Int, _ last: Character) -> String {
        String(repeating: "x", count: byteCount - 1) + String(last)
    }

    @Test(arguments: [4_095, 4_096, 5_000, 16_384, 31_997]) func aLargeValueIsUnique(byteCount: Int) throws {
        let store = try TestStore(Page.self)
        var context = store.context()
        let (a, b) = (Self.text(byteCount, "a"), Self.text(byteCount, "b"))
        context.insert(Page(a, visits: 1))
        context.insert(Page(b, visits: 1))
        try context.save()
        let identifiers = try context.all(Page.self).map(\.persistentModelID)
        context = try store.reopened()
        context.insert(Page(a, visits: 2))
        try context.save()
        #expect(try context.all(Page.self).map(\.persistentModelID) == identifiers)
        #expect(try context.all(Page.self).map(\.visits) == [2, 1])
        // The page is found by its index entry: one row is read, and none while it is in memory.
        let reader = store.context()
        #expect(try reader.fetch(FetchDescriptor<Page>(predicate: #Predicate { $0.address == b })).count == 1)
        #expect(reader.counters.rowsRead == 1)
        #expect(try reader.fetch(FetchDescriptor<Page>(predicate: #Predicate { $0.address == a })).count == 1)
        #expect(reader.counters.rowsRead == 2)
        #expect(try reader.fetch(FetchDescriptor<Page>(predicate: #Predicate { $0.address == a })).count == 1)
        #expect(reader.counters.rowsRead == 2)

        // An update that conflicts is refused; a released value can be used again.
        let pages = try context.all(Page.self)
        pages[1].address = a
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        pages[0].address = "short"
        try context.save()
        context = try store.reopened()
        context.insert(Page(b, visits: 3))
        try context.save()
        #expect(try context.all(Page.self).map(\.visits) == [2, 1, 3])
        for page in try context.all(Page.self) { context.delete(page) }
        try context.save()
        context.insert(Page(a, visits: 4))
        context.insert(Page(b, visits: 5))
        try context.save()
        try store.container.checkpoint()
        #expect(try store.reopened().all(Page.self).map(\.visits) == [4, 5])
    }

    @Test func aLargeValueThatIsCanonicallyEqualIsEqual() throws {
        let store = try TestStore(Page.self)
        let context = store.context()
        context.insert(Page(String(repeating: "e\u{301}", count: 5_000), visits: 1))
        try context.save()
        context.insert(Page(String(repeating: "\u{E9}", count: 5_000), visits: 2))
        try context.save()
        #expect(try store.reopened().all(Page.self).map(\.visits) == [2])
    }

    @Test func aValueByReferenceIsUnique() throws {
        let store = try TestStore(Page.self, Photo.self)
        let context = store.context()
        let photo = Photo("p")
        photo.large = Data(repeating: 7, count: 20_000)
        context.insert(photo)
        try context.save()
        for visits in 1...2 {
            let page = Page("\(visits)", visits: visits)
            page.setBlob(photo.blob(\.large), for: \.digest)
            context.insert(page)
            try context.save()
        }
        let pages = try store.reopened().all(Page.self)
        #expect(pages.map(\.visits) == [2])
        #expect(pages[0].digest == photo.large)
        #expect(pages[0].address == "2")
    }

    @Test func aValueTooLongForAKeyIsRefusedByName() throws {
        let store = try TestStore(Page.self)
        let context = store.context()
        let page = Page(Self.text(31_998, "a"))
        context.insert(page)
        func refusal() -> String {
            do { try context.save() } catch let error as SwiftDataError where error == .modelValidationFailure {
                return error.explanation
            } catch { return "\(error)" }
            return "saved"
        }
        let explanation = refusal()
        for part in ["Page.address", "31998 bytes", "32001 bytes", "limit is 32000"] {
            #expect(explanation.contains(part), "\(explanation)")
        }
        // Normalization form C is longer than the text here.
        page.address = String(repeating: "\u{958}", count: 6_000)
        #expect(refusal().contains("Page.address has 18000 bytes"))
        page.address = "short"
        try context.save()
        page.digest = Data(repeating: 0, count: 16_000)
        #expect(refusal().contains("Page.digest has 16000 bytes"))
        page.digest = Data(repeating: 1, count: 16_000)
        #expect(refusal() == "saved")
        // One part of an incomplete key also stays in the row.
        page.site = String(repeating: "s", count: 50_000)
        #expect(refusal().contains("Page.site has 50000 bytes"))
        page.site = String(repeating: "s", count: 20_000)
        #expect(refusal() == "saved")
        page.path = String(repeating: "p", count: 20_000)
        #expect(refusal().contains("Page.path has 20000 bytes, Page.site has 20000 bytes"))
        context.rollback()
        // Values that are not unique have no such limit.
        page.body = String(repeating: "b", count: 50_000)
        try context.save()
        let again = try store.reopened().first(Page.self)
        #expect(again.site?.count == 20_000)
        #expect(again.path == nil)
        #expect(again.body.count == 50_000)
    }

    enum Version1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Entry.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
        @Model final class Entry {
            var text: String
            init(_ text: String) { self.text = text }
        }
    }

    enum Version2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Entry.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
        @Model final class Entry {
            @Attribute(.unique) var text: String
            init(_ text: String) { self.text = text }
        }
    }

    @Test func anAttributeWithLargeValuesBecomesUniqueOnlyByAStage() throws {
        for byteCount in [4_000, 5_000] {
            let folder = TemporaryDirectory()
            let configuration = ModelConfiguration(url: URL(filePath: "\(folder.path)/s"))
            func open(_ version: any VersionedSchema.Type) throws -> ModelContainer {
                try ModelContainer(for: Schema(version.models), configurations: [configuration])
            }
            let text = Self.text(byteCount, "a")
            let first = try open(Version1.self)
            let context = ModelContext(first)
            context.insert(Version1.Entry(text))
            try context.save()
            try first.close()
            guard byteCount < 4_096 else {
                do {
                    _ = try open(Version2.self)
                    Issue.record("The value out of the row has no key.")
                } catch { #expect("\(error)".contains("Object 1 of Entry has 5000 bytes out of its row"), "\(error)") }
                let old = try open(Version1.self)
                #expect(try ModelContext(old).first(Version1.Entry.self).text == text)
                continue
            }
            let second = try open(Version2.self)
            let later = ModelContext(second)
            later.insert(Version2.Entry(text))
            try later.save()
            #expect(try later.fetchCount(FetchDescriptor<Version2.Entry>()) == 1)
        }
    }
}
