import Faultline
import FaultlineRepair
import FaultlineStore
import Testing

/// Changes, made directly or through others, to an object marked for deletion and not yet saved.
struct ChangesOfDeletedTests {
    @Model final class Bearer {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \Paper.bearer) var paper: Paper?
        @Relationship(deleteRule: .deny, inverse: \Ship.captain) var ship: Ship?
        @Relationship var stamps: [Stamp] = []
        @Relationship(deleteRule: .noAction, inverse: \Guest.host) var guests: [Guest] = []
        init(_ name: String) { self.name = name }
    }

    @Model final class Paper {
        var bearer: Bearer?
        init() {}
    }

    @Model final class Ship {
        var captain: Bearer?
        init() {}
    }

    @Model final class Stamp {
        init() {}
    }

    @Model final class Guest {
        var host: Bearer?
        init() {}
    }

    @Model final class Landlord {
        @Relationship(inverse: \Flat.landlord) var flats: [Flat] = []
        init() {}
    }

    @Model final class Flat {
        var landlord: Landlord
        init(_ landlord: Landlord) { self.landlord = landlord }
    }

    private let container: ModelContainer
    private let context: ModelContext
    private let old = Bearer("old")
    private let new = Bearer("new")
    private let paper = Paper()
    private let ship = Ship()

    init() throws {
        container = try ModelContainer(
            for: Bearer.self, Landlord.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
        context.insert(old)
        context.insert(new)
        paper.bearer = old
        ship.captain = old
        old.stamps = [Stamp()]
        let guest = Guest()
        guest.host = old
        context.insert(paper)
        context.insert(ship)
        context.insert(guest)
        try context.save()
    }

    @Test func `a child given to another object is not deleted with the first one`() throws {
        context.delete(old)
        paper.bearer = new
        ship.captain = new
        try context.save()
        #expect(new.paper === paper && new.ship === ship)
        let fresh = ModelContext(container)
        #expect(try fresh.fetch(FetchDescriptor<Bearer>()).map(\.name) == ["new"])
        #expect(try fresh.fetch(FetchDescriptor<Paper>()).map { $0.bearer?.name } == ["new"])
    }

    @Test func `a child that another object took is not deleted with the first one`() throws {
        context.delete(old)
        new.paper = paper
        new.ship = ship
        try context.save()
        #expect(paper.bearer === new && ship.captain === new)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Paper>()) == 1)
    }

    @Test func `a rollback undoes changes of an object that was deleted`() throws {
        context.delete(old)
        old.name = "changed"
        paper.bearer = new
        context.rollback()
        #expect(old.name == "old" && old.paper === paper && paper.bearer === old)
        old.ship = nil
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Bearer>()).map(\.name).sorted() == ["new", "old"])
    }

    @Test func `changes of an object that is not deleted after all are saved`() throws {
        context.delete(old)
        old.name = "changed"
        context.insert(old)
        try context.save()
        #expect(old.name == "changed")
        let names = try ModelContext(container).fetch(FetchDescriptor<Bearer>()).map(\.name)
        #expect(names.sorted() == ["changed", "new"])
    }

    @Test func `a deleted object has no members and takes none`() throws {
        old.ship = nil
        context.delete(old)
        try context.save()
        #expect(old.isDeleted && old.guests.isEmpty && old.stamps.isEmpty)
        let guests = old.relationship(\.guests)
        #expect(guests.isEmpty && guests.count == 0 && Array(guests).isEmpty)
        let stamp = Stamp()
        context.insert(stamp)
        #expect(!old.relationship(\.stamps).insert(stamp))
        #expect(throws: SwiftDataError.self) { try context.save() }
        try context.save()
        #expect(try ReferenceRepair(container.rowStore).look().allSatisfy { !$0.isLink })
    }

    @Test func `an object that another context has deleted takes no members`() throws {
        let other = ModelContext(container)
        for ship in try other.fetch(FetchDescriptor<Ship>()) { other.delete(ship) }
        for bearer in try other.fetch(FetchDescriptor<Bearer>()) { other.delete(bearer) }
        try other.save()
        let stamp = try #require(try context.fetch(FetchDescriptor<Stamp>()).first)
        #expect(!old.relationship(\.stamps).insert(stamp))
        #expect(throws: SwiftDataError.self) { try context.save() }
        try context.save()
        #expect(try ReferenceRepair(container.rowStore).look().allSatisfy { !$0.isLink || $0.count == 0 })
    }

    @Test func `new members stand in the order in which they joined`() throws {
        let guests = [Guest(), Guest(), Guest()]
        for guest in guests { context.insert(guest) }
        for guest in guests.reversed() { guest.host = new }
        #expect(new.guests == guests.reversed())
        try context.save()
        #expect(new.guests == guests.reversed())
    }

    @Test func `pending deletions are processed by the rules that their save has`() throws {
        let landlord = Landlord()
        context.insert(Flat(landlord))
        try context.save()
        context.delete(landlord)
        context.processPendingChanges()
        #expect(throws: SwiftDataError.self) { try context.save() }
        // As in a mapped stage of a migration, where required values are checked at the end.
        context.core.rules.defersRelationshipRules = true
        context.processPendingChanges()
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Landlord>()) == 0)
        #expect(try context.fetchCount(FetchDescriptor<Flat>()) == 1)
    }
}
