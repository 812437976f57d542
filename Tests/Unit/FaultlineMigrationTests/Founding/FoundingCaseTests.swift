import Faultline
import FaultlineDisk
import Foundation
import Synchronization
import Testing

/// Complete migrations that other libraries did not support well.
///
/// The third, a day and a month derived by a policy whose seven calls are observed, is
/// `MappedStageTests.policiesAreCalledInThreePasses`.
struct FoundingCaseTests {
    // MARK: A photo that makes every list expensive

    private static let peopleCount = 400

    /// The bytes of memory that listing all names takes.
    private static func listing<T: PersistentModel>(
        _ container: ModelContainer, _ type: T.Type, _ name: (T) -> String
    ) throws -> (byteCount: Int, names: [String], counters: FaultCounters) {
        let context = ModelContext(container)
        let before = context.counters
        let people = try context.all(type)
        let names = people.map(name)
        let counters = context.counters - before
        return (counters.cacheBytes, names.sorted(), counters)
    }

    @Test(arguments: [3_500, 20_000])
    func `photos kept in their people become an entity of their own by a policy`(photoByteCount: Int) throws {
        let stores = Stores()
        func photo(_ number: Int) -> Data? {
            number % 10 == 3
                ? nil : Data((0..<photoByteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
        }
        func name(_ number: Int) -> String { "person \(number + 1_000)" }
        try stores.use(Portraits1.self) { _, context in
            for number in 0..<Self.peopleCount {
                context.insert(Portraits1.Person(name: name(number), photo: photo(number)))
            }
            try context.save()
        }
        let before = try stores.use(Portraits1.self) { container, _ in
            try Self.listing(container, Portraits1.Person.self, \.name)
        }
        let container = try stores.open(Portraits2.self, PortraitPlan.self)
        let report = container.migrationReport
        try container.close()
        let after = try stores.use(Portraits2.self) { container, _ in
            try Self.listing(container, Portraits2.Person.self, \.name)
        }

        #expect(before.names == (0..<Self.peopleCount).map(name))
        #expect(after.names == before.names)
        // Small values are stored in the row, so every list loads them. Large ones are stored outside it even without a
        // request.
        let isInRow = photoByteCount < 4_096
        #expect((before.byteCount > Self.peopleCount * 9 / 10 * photoByteCount) == isInRow, "\(before.counters)")
        #expect(after.byteCount < Self.peopleCount * 400, "\(after.counters)")
        #expect(after.counters.blobBytesRead == 0)
        #expect(report.blobBytesRead == 0)
        #expect(report.blobsMoved == (isInRow ? 0 : Self.peopleCount * 9 / 10))
        try stores.use(Portraits2.self) { _, context in
            for person in try context.all(Portraits2.Person.self) {
                let number = try #require(Int(person.name.dropFirst("person ".count))) - 1_000
                #expect(person.photo?.bytes == photo(number))
                #expect(person.photo?.person === (person.photo == nil ? nil : person))
            }
            #expect(try context.fetchCount(FetchDescriptor<Portraits2.Photo>()) == Self.peopleCount * 9 / 10)
        }
        #expect(try stores.findings(Portraits2.self) == [])
    }

    // MARK: Four entities merged into one

    private static let noteCount = 60

    private func makeNotes(in stores: Stores) throws {
        try stores.use(Notes1.self) { _, context in
            let folders = (0..<3).map { Notes1.Folder(name: "folder \($0)") }
            folders.forEach { context.insert($0) }
            for number in 0..<Self.noteCount {
                let created = Date(timeIntervalSinceReferenceDate: Double(number))
                let folder = number % 5 == 4 ? nil : folders[number % 3]
                let text = Notes1.TextNote(text: "text \(number)", created: created)
                let photo = Notes1.PhotoNote(
                    caption: "photo \(number)", photo: WorkStore.photo(number), created: created)
                let link = Notes1.LinkNote(address: "https://\(number).test", created: created)
                let list = Notes1.ListNote(items: ["a \(number)", "b"], created: created)
                for note in [text, photo, link, list] as [any PersistentModel] { context.insert(note) }
                text.folder = folder
                photo.folder = folder
                link.folder = folder
                list.folder = folder
            }
            try context.save()
        }
    }

    private func checkNotes(_ context: ModelContext) throws {
        let notes = try context.all(Notes2.Note.self).sorted { ($0.created, $0.text) < ($1.created, $1.text) }
        #expect(notes.count == 4 * Self.noteCount)
        for (place, note) in notes.enumerated() {
            let number = place / 4
            let texts: [Notes2.Kind: String] = [
                .text: "text \(number)", .photo: "photo \(number)", .link: "https://\(number).test",
                .list: "a \(number)\nb",
            ]
            #expect(note.text == texts[note.kind])
            #expect(note.folder?.name == (number % 5 == 4 ? nil : "folder \(number % 3)"))
            #expect(note.photo?.bytes == (note.kind == .photo ? WorkStore.photo(number) : nil))
        }
        for folder in try context.all(Notes2.Folder.self) {
            #expect(folder.notes.count == notes.count { $0.folder === folder })
        }
    }

    @Test func `four kinds of notes become one by closures before and after`() throws {
        let stores = Stores()
        try makeNotes(in: stores)
        let carrier = StagedNotes.Carrier()
        try StagedNotes.$carrier.withValue(carrier) {
            try stores.use(Notes2.self, StagedNotes.self) { container, context in
                try checkNotes(context)
                #expect(container.migrationReport.objectsDropped == 0)
            }
        }
        #expect(carrier.notes.withLock { $0.count } == 4 * Self.noteCount)
        #expect(try stores.findings(Notes2.self) == [])
    }

    @Test func `M6 (AppleForums 779790): four kinds of notes become one by a stage that holds nothing`() throws {
        let stores = Stores()
        try makeNotes(in: stores)
        try stores.use(Notes2.self, StreamedNotes.self) { container, context in
            try checkNotes(context)
            let report = container.migrationReport
            #expect(report.objectsRead == 4 * Self.noteCount)
            #expect(report.blobsMoved == Self.noteCount)
            #expect(report.blobBytesRead == 0)
        }
        #expect(try stores.findings(Notes2.self) == [])
    }
}
