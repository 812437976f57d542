import Faultline
import Testing

@Model final class Rack {
    @Attribute(.unique) var name: String
    @Relationship(maximumModelCount: 1) var trophies: [Trophy] = []
    init(_ name: String) { self.name = name }
}

/// Has no inverse to racks, so its deletion leaves entries of it in them.
@Model final class Trophy {
    var title: String
    init(_ title: String) { self.title = title }
}

/// Collections of a stored object that a new one replaces.
@Suite struct ReplacedCollectionTests {
    @Test func `members that were deleted long ago are not counted when an object is replaced`() throws {
        let store = try TestStore(Rack.self, Trophy.self)
        let context = store.context()
        let (rack, old) = (Rack("r"), Trophy("old"))
        context.insert(rack)
        rack.trophies = [old]
        try context.save()
        context.delete(old)
        try context.save()
        rack.trophies = [Trophy("new")]
        try context.save()
        context.insert(Rack("r"))
        try context.save()
        // One more is too many, even for the object that replaces it.
        let full = Rack("r")
        full.trophies = [Trophy("second")]
        context.insert(full)
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(error?.findings.map(\.rule) == [.maximumModelCount])
        #expect(try store.reopened().all(Rack.self).map { $0.trophies.map(\.title) } == [["new"]])
    }
}
