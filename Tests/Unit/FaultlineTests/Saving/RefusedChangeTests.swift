import Faultline
import Testing

/// A change that was refused where nothing could be thrown stands in the way of every save until it is settled.
@Suite struct RefusedChangeTests {
    private let store: TestStore
    private let context: ModelContext
    private let document: Document

    init() throws {
        store = try TestStore(Folder.self)
        context = store.context()
        document = Document("old")
        context.insert(document)
        context.insert(Folder("mine"))
        try context.save()
        document.title = "new"
    }

    /// A folder of another context.
    private func foreign() throws -> Folder { try store.context().first(Folder.self) }

    private func expectRefusals() throws {
        for _ in 0..<3 { #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() } }
        #expect(context.hasChanges && document.title == "new")
        #expect(try store.context().first(Document.self).title == "old")
    }

    /// How a refused change is settled.
    enum Settling: CaseIterable {
        case otherValue, sameValue, inverse, rollback, refresh, delete
    }

    @Test("a save is refused until the refused change is settled", arguments: Settling.allCases)
    func toOne(settling: Settling) throws {
        document.folder = try foreign()
        try expectRefusals()
        let mine = try context.first(Folder.self)
        switch settling {
        case .otherValue: document.folder = mine
        case .sameValue: document.folder = nil
        case .inverse: mine.documents.append(document)
        case .rollback: context.rollback()
        case .refresh: context.refresh(document, mergeChanges: false)
        case .delete: context.delete(document)
        }
        try context.save()
        let read = try store.reopened().all(Document.self)
        switch settling {
        case .otherValue, .inverse: #expect(read.map(\.folder?.name) == ["mine"] && read.map(\.title) == ["new"])
        case .sameValue: #expect(read.map(\.folder?.name) == [nil] && read.map(\.title) == ["new"])
        case .rollback, .refresh: #expect(read.map(\.title) == ["old"])
        case .delete: #expect(read.isEmpty)
        }
    }

    @Test("a collection that was given a foreign object is refused until it is assigned", arguments: [true, false])
    func toMany(isInPlace: Bool) throws {
        let mine = try context.first(Folder.self)
        let stranger = Document("stranger")
        let other = store.context()
        other.insert(stranger)
        if isInPlace { mine.documents.append(stranger) } else { mine.relationship(\.documents).insert(stranger) }
        mine.documents.append(document)
        try expectRefusals()
        mine.documents = [document]
        try context.save()
        #expect(try store.reopened().first(Folder.self).documents.map(\.title) == ["new"])
    }

    @Test("two refused changes are told one after the other")
    func two() throws {
        document.folder = try foreign()
        let mine = try context.first(Folder.self)
        mine.parent = try foreign()
        document.folder = nil
        try expectRefusals()
        mine.parent = nil
        try context.save()
    }

    @Test("one save reports a refused call")
    func calls() throws {
        context.insert(try foreign())
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        try context.save()
        #expect(try store.context().first(Document.self).title == "new")
    }

    @Test("a refused value of a property by name stands until the property is set")
    func byName() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let person = try context.make("Person", ["name": "Ada"])
        try context.save()
        person["name"] = 7
        for _ in 0..<2 { #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() } }
        person["name"] = "Eve"
        try context.save()
        #expect(try store.reopened().named("Eve", "Person") != nil)
    }

    @Test("a value that does not encode stands until another one is set")
    func unencodable() throws {
        let store = try TestStore(Recorded.self)
        let context = store.context()
        let recorded = Recorded()
        context.insert(recorded)
        recorded.value = Fragile(isBroken: true)
        for _ in 0..<2 { #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() } }
        recorded.value = Fragile(isBroken: false)
        try context.save()
        #expect(try store.reopened().all(Recorded.self).count == 1)
    }

    @Test("a value that does not encode is told of an object that had no context, unless another one was set")
    func unencodableOutside() throws {
        let store = try TestStore(Recorded.self)
        let context = store.context()
        let (first, second) = (Recorded(), Recorded())
        first.value = Fragile(isBroken: true)
        second.value = Fragile(isBroken: true)
        second.value = Fragile(isBroken: false)
        context.insert(second)
        try context.save()
        context.insert(first)
        for _ in 0..<2 {
            #expect { try context.save() } throws: { "\($0)".contains("Recorded.value was set to a value") }
        }
        first.value = Fragile(isBroken: false)
        try context.save()
        #expect(try store.reopened().all(Recorded.self).count == 2)
    }

    @Test("a refused value by name of an object in no context stands until the property is set")
    func byNameOutside() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let model = try context.make("Person", ["name": "Ida"])
        try context.save()
        // Copies in no context.
        let (first, second) = (
            ManagedObject(backingData: model.persistentBackingData),
            ManagedObject(backingData: model.persistentBackingData)
        )
        for person in [first, second] { person["name"] = 7 }
        second["name"] = "Ada"
        context.insert(second)
        try context.save()
        context.insert(first)
        for _ in 0..<2 { #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() } }
        first["name"] = "Eve"
        try context.save()
        #expect(try store.reopened().named("Eve", "Person") != nil)
    }

    @Test("a context with a refused change is freed")
    func freed() throws {
        weak var core = store.context().core
        do {
            let other = store.context()
            core = other.core
            let document = try other.first(Document.self)
            document.folder = try foreign()
        }
        #expect(core == nil)
    }
}

struct Fragile: Codable, Equatable {
    struct Broken: Error {}
    var isBroken: Bool

    init(isBroken: Bool) { self.isBroken = isBroken }
    init(from decoder: any Decoder) throws { isBroken = try decoder.singleValueContainer().decode(Bool.self) }

    func encode(to encoder: any Encoder) throws {
        if isBroken { throw Broken() }
        var container = encoder.singleValueContainer()
        try container.encode(isBroken)
    }
}

@Model final class Recorded {
    var value = Fragile(isBroken: false)
    init() {}
}
