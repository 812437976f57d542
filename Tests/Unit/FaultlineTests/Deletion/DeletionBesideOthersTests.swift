import Faultline
import FaultlineStore
import Testing

/// A context deletes objects that another one has changed since it read them.
struct DeletionBesideOthersTests {
    @Model final class Hall {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \Seat.hall) var seats: [Seat] = []
        @Relationship(deleteRule: .nullify, inverse: \Visitor.hall) var visitors: [Visitor] = []
        @Relationship(deleteRule: .deny, inverse: \Lease.hall) var leases: [Lease] = []
        @Relationship(deleteRule: .nullify, inverse: \Key.hall) var key: Key?
        init(_ name: String) { self.name = name }
    }

    @Model final class Seat {
        var name: String
        var hall: Hall?
        init(_ name: String) { self.name = name }
    }

    @Model final class Visitor {
        var name: String
        var hall: Hall?
        init(_ name: String) { self.name = name }
    }

    @Model final class Lease {
        var name: String
        var hall: Hall?
        init(_ name: String) { self.name = name }
    }

    @Model final class Key {
        var name: String
        var hall: Hall?
        init(_ name: String) { self.name = name }
    }

    /// Refers to a hall, which it requires, without an inverse.
    @Model final class Sign {
        var text: String
        var hall: Hall
        init(_ text: String, hall: Hall) {
            self.text = text
            self.hall = hall
        }
    }

    private let container: ModelContainer
    /// A context with unsaved changes, so that it keeps its snapshot.
    private let context: ModelContext
    private let other: ModelContext

    init() throws {
        container = try ModelContainer(
            for: Hall.self, Sign.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
        other = ModelContext(container)
        for name in ["a", "b"] { other.insert(Hall(name)) }
        other.insert(Seat("s"))
        other.insert(Visitor("v"))
        other.insert(Key("k"))
        try other.save()
    }

    private func hall(_ name: String, _ context: ModelContext) throws -> Hall {
        try #require(try context.fetch(FetchDescriptor<Hall>()).first { $0.name == name })
    }

    private func first<T: PersistentModel>(_ type: T.Type, _ context: ModelContext) throws -> T {
        try #require(try context.fetch(FetchDescriptor<T>()).first)
    }

    @Test func `objects that another context took out of a cascade stay, and those it added go`() throws {
        try first(Seat.self, other).hall = hall("a", other)
        try other.save()
        let doomed = try hall("a", context)
        #expect(doomed.seats.map(\.name) == ["s"])
        context.insert(Seat("unsaved"))
        try first(Seat.self, other).hall = hall("b", other)
        let added = Seat("added")
        other.insert(added)
        added.hall = try hall("a", other)
        try other.save()
        context.delete(doomed)
        try context.save()
        let fresh = ModelContext(container)
        let seats = try fresh.fetch(FetchDescriptor<Seat>()).sorted { $0.name < $1.name }
        #expect(seats.map(\.name) == ["s", "unsaved"])
        #expect(seats.first?.hall?.name == "b")
    }

    @Test func `a deletion is denied by objects that another context has added`() throws {
        let doomed = try hall("a", context)
        context.delete(doomed)
        let lease = Lease("l")
        other.insert(lease)
        lease.hall = try hall("a", other)
        try other.save()
        #expect(throws: SwiftDataError.self) { try context.save() }
        context.rollback()
        #expect(try context.fetchCount(FetchDescriptor<Hall>()) == 2)
    }

    @Test func `members that another context has related stay if this save relates them elsewhere`() throws {
        let lease = Lease("l")
        other.insert(lease)
        try other.save()
        let (seat, mine, key) = try (first(Seat.self, context), first(Lease.self, context), first(Key.self, context))
        let doomed = try hall("a", context)
        let kept = try hall("b", context)
        #expect(seat.hall == nil && mine.hall == nil && key.hall == nil)
        (seat.hall, mine.hall, key.hall) = (kept, kept, kept)
        try first(Seat.self, other).hall = hall("a", other)
        try first(Key.self, other).hall = hall("a", other)
        lease.hall = try hall("a", other)
        try other.save()
        context.delete(doomed)
        try context.save()
        let fresh = ModelContext(container)
        #expect(try fresh.fetch(FetchDescriptor<Hall>()).map(\.name) == ["b"])
        try #expect(first(Seat.self, fresh).hall?.name == "b")
        try #expect(first(Lease.self, fresh).hall?.name == "b")
        try #expect(first(Key.self, fresh).hall?.name == "b")
    }

    @Test func `a refused save leaves the context at its state after a new object was deleted and taken back`() throws {
        let visitor = try first(Visitor.self, context)
        let hall = Hall("new")
        context.insert(hall)
        context.delete(hall)
        context.insert(hall)
        context.delete(try first(Key.self, other))
        try first(Visitor.self, other).name = "renamed"
        try other.save()
        #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(visitor.name == "v")
    }

    @Test func `a member of the same save denies the deletion of an object that another context has deleted`() throws {
        let lease = Lease("l")
        other.insert(lease)
        try other.save()
        let doomed = try hall("a", context)
        try first(Lease.self, context).hall = doomed
        context.delete(doomed)
        try other.delete(hall("a", other))
        try other.save()
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(error?.findings.contains { $0.rule == .deny && $0.object == doomed.persistentModelID } == true)
        try first(Lease.self, context).hall = nil
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Hall>()).map(\.name) == ["b"])
    }

    @Test func `a reference that another context has set is cleared, also if other properties changed here`() throws {
        let visitor = try first(Visitor.self, context)
        let key = try first(Key.self, context)
        let doomed = try hall("a", context)
        visitor.name = "changed"
        key.name = "changed"
        try first(Visitor.self, other).hall = hall("a", other)
        try first(Key.self, other).hall = hall("a", other)
        try other.save()
        context.delete(doomed)
        try context.save()
        #expect(visitor.hall == nil && visitor.name == "changed")
        #expect(key.hall == nil && key.name == "changed")
        let fresh = ModelContext(container)
        try #expect(first(Visitor.self, fresh).hall == nil)
        try #expect(first(Key.self, fresh).hall == nil)
        for entity in container.rowStore.storage.entities {
            try #expect(container.rowStore.danglingReferences(of: entity).isEmpty)
        }
    }

    @Test func `a reference that another context has turned elsewhere stays there`() throws {
        try first(Visitor.self, other).hall = hall("a", other)
        try other.save()
        let visitor = try first(Visitor.self, context)
        #expect(visitor.hall?.name == "a")
        visitor.name = "changed"
        let doomed = try hall("a", context)
        try first(Visitor.self, other).hall = hall("b", other)
        try other.save()
        context.delete(doomed)
        try context.save()
        let fresh = ModelContext(container)
        try #expect(first(Visitor.self, fresh).hall?.name == "b")
        try #expect(first(Visitor.self, fresh).name == "changed")
    }

    @Test func `an object that needs an unsaved one which was deleted is refused`() throws {
        let hall = Hall("new")
        context.insert(hall)
        context.insert(Sign("exit", hall: hall))
        context.delete(hall)
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(error?.findings.map(\.propertyName) == ["hall"])
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Sign>()) == 0)
    }
}
