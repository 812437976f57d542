import Faultline
import FaultlineDisk
import Synchronization
import Testing

/// Counts the objects of a class that are alive.
private final class Residence: Sendable {
    static let counts = Guarded((alive: 0, most: 0))

    init() {
        Self.counts.withLock {
            $0.alive += 1
            $0.most = max($0.most, $0.alive)
        }
    }

    deinit { Self.counts.withLock { $0.alive -= 1 } }

    /// The most objects that are alive at once while `body` runs, without those before it.
    static func most(_ body: () throws -> Void) rethrows -> Int {
        let before = counts.withLock {
            $0.most = $0.alive
            return $0.alive
        }
        try body()
        return counts.withLock { $0.most } - before
    }
}

@Model final class Album {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Picture.album) var pictures: [Picture] = []
    @Relationship(deleteRule: .nullify, inverse: \Guest.album) var guests: [Guest] = []

    init(_ name: String) { self.name = name }
}

@Model final class Picture {
    @Transient private var residence = Residence()
    var name: String
    var image: Data = Data()
    var album: Album?
    @Relationship(deleteRule: .cascade, inverse: \Remark.picture) var remarks: [Remark] = []

    init(_ name: String) { self.name = name }
}

@Model final class Remark {
    @Transient private var residence = Residence()
    var text: String
    var picture: Picture?

    init(_ text: String) { self.text = text }
}

@Model final class Guest {
    @Transient private var residence = Residence()
    var name: String
    var album: Album?

    init(_ name: String) { self.name = name }
}

@Suite(.serialized) struct CascadeTests {
    /// A store of albums with pictures, each with a remark, and guests.
    private func filled(_ pictureCount: Int, albumCount: Int = 2) throws -> TestStore {
        let store = try TestStore(Album.self)
        for number in 0..<albumCount {
            let context = store.context()
            let album = Album("\(number)")
            context.insert(album)
            album.pictures = (0..<pictureCount).map { place in
                let picture = Picture("\(place)")
                picture.remarks = [Remark("\(place)")]
                return picture
            }
            album.guests = (0..<pictureCount).map { Guest("\($0)") }
            try context.save()
        }
        return store
    }

    @Test func aCascadeMakesNoObject() throws {
        let store = try filled(10_000)
        let context = store.context()
        let album = try #require(try context.all(Album.self, sortBy: [SortDescriptor(\.name)]).first)
        let faults = context.counters.faultsFired
        let most = try Residence.most {
            context.delete(album)
            #expect(try context.deletePlan().objectCount == 20_001)
            try context.save()
        }
        #expect(most == 0)
        #expect(context.counters.faultsFired == faults)
        let again = try store.reopened()
        #expect(try again.fetchCount(FetchDescriptor<Picture>()) == 10_000)
        #expect(try again.fetchCount(FetchDescriptor<Remark>()) == 10_000)
        #expect(try again.fetchCount(FetchDescriptor<Guest>(predicate: #Predicate { $0.album == nil })) == 10_000)
        #expect(try again.first(Album.self).pictures.count == 10_000)
    }

    @Test func aWalkOverARelationshipHoldsAPage() throws {
        let store = try filled(3_000, albumCount: 1)
        try store.container.checkpoint()
        let context = store.context()
        let album = try context.first(Album.self)
        var names: [String] = []
        let most = try Residence.most {
            let pictures = album.relationship(\.pictures)
            #expect(pictures.count == 3_000 && !pictures.isEmpty)
            for picture in pictures { names.append(picture.name) }
            for number in 0..<100 { pictures.insert(Picture("new \(number)")) }
            #expect(pictures.count == 3_100)
            try context.save()
        }
        #expect(names == (0..<3_000).map { "\($0)" })
        // A page, the page before it while it is released, and the new objects.
        #expect(most <= 256 * 2 + 100)
        #expect(try store.reopened().first(Album.self).pictures.map(\.name).suffix(2) == ["new 98", "new 99"])
    }

    @Test func objectsThatAreAliveShowWhatACascadeDid() throws {
        let store = try filled(100)
        let context = store.context()
        let album = try context.first(Album.self)
        let pictures = Array(album.pictures[..<3])
        let guests = Array(album.guests[..<3])
        _ = pictures[0].name
        pictures[1].name = "changed"
        _ = guests[0].name
        guests[1].name = "changed"
        context.delete(album)
        try context.save()
        #expect(pictures.map(\.isDeleted) == [true, true, true])
        #expect(pictures.map(\.name) == ["0", "changed", "2"])
        #expect(pictures.allSatisfy { $0.modelContext == nil })
        #expect(guests.allSatisfy { $0.album == nil && !$0.hasChanges })
        #expect(guests.map(\.name) == ["0", "changed", "2"])
        let again = try store.reopened().all(Guest.self)
        #expect(again.filter { $0.album == nil }.map(\.name).prefix(3) == ["0", "changed", "2"])
    }

    @Test func whoWatchesIsToldOfWhatRulesDid() throws {
        let store = try filled(3, albumCount: 1)
        let context = store.context()
        let album = try context.first(Album.self)
        let picture = album.pictures[0]
        let guest = album.guests[0]
        context.delete(album)
        let told = Told()
        withObservationTracking {
            _ = picture.name
        } onChange: {
            told.add("picture")
        }
        withObservationTracking {
            _ = guest.album
        } onChange: {
            told.add("guest")
        }
        withObservationTracking {
            _ = guest.name
        } onChange: {
            told.add("name")
        }
        try context.save()
        #expect(told.names == ["guest", "picture"])
        #expect(picture.isDeleted && guest.album == nil && guest.name == "0")
    }

    @Test func aSaveThatFailsLeavesTheContextAsItWas() throws {
        let store = try TestStore(Album.self, User.self)
        let context = store.context()
        let album = Album("a")
        album.pictures = [Picture("1"), Picture("2")]
        album.guests = [Guest("1"), Guest("2")]
        context.insert(album)
        let users = [User("a"), User("b")]
        users.forEach(context.insert)
        try context.save()
        let held = album.pictures[0]
        let guest = album.guests[0]
        guest.name = "changed"
        let late = Picture("3")
        album.pictures.append(late)
        // The store refuses the save after everything is written.
        users[1].email = "a"
        context.delete(album)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(!held.isDeleted && !late.isDeleted && late.modelContext === context)
        #expect(guest.album == nil || guest.album === album)
        context.insert(album)
        #expect(album.pictures.map(\.name) == ["1", "2", "3"])
        #expect(album.guests.map(\.name) == ["changed", "2"])
        users[1].email = "b"
        try context.save()
        let again = try store.reopened()
        #expect(try again.first(Album.self).pictures.map(\.name) == ["1", "2", "3"])
        #expect(try again.first(Album.self).guests.map(\.name) == ["changed", "2"])
    }

    @Test func thePlanCountsObjectsBytesAndReferences() throws {
        let store = try TestStore(Album.self)
        let context = store.context()
        let album = Album("a")
        album.pictures = (0..<14).map { number in
            let picture = Picture("\(number)")
            picture.image = Data(repeating: UInt8(number), count: 2_200_000)
            return picture
        }
        album.guests = [Guest("1")]
        context.insert(album)
        try context.save()
        let other = store.context()
        let read = try other.first(Album.self)
        let before = other.counters
        let most = try Residence.most {
            let plan = try other.deletePlan(for: read)
            #expect(plan.description == "would delete 1 Album, 14 Picture, 31 MB; would clear 1 references")
            #expect(plan.deleted.map(\.blobByteCount) == [0, 30_800_000])
            #expect(plan.cleared.map { "\($0.entityName).\($0.propertyName) \($0.objectCount)" } == ["Guest.album 1"])
            #expect(plan.isAllowed && plan.leftDangling.isEmpty)
            // By predicate, and for the deletions made so far, of which there are none.
            let some = try other.deletePlan(for: Picture.self, where: #Predicate { $0.name == "3" || $0.name == "4" })
            #expect(some.objectCount == 2 && some.blobByteCount == 4_400_000)
            #expect(try other.deletePlan().description == "would delete nothing")
        }
        #expect(most == 0)
        #expect((other.counters - before).blobBytesRead == 0)
        #expect(!other.hasChanges)
        #expect(throws: SwiftDataError.missingModelContext) { try other.deletePlan(for: album) }
    }
}

/// Collects the names of the observers that were notified.
private final class Told: Sendable {
    private let all = Guarded<Set<String>>([])
    var names: Set<String> { all.withLock { $0 } }
    func add(_ name: String) { all.withLock { _ = $0.insert(name) } }
}
