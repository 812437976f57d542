import Faultline
import FaultlineLog
import FaultlineStore
import FaultlineTestSupport
import Testing

/// Every object has one entry in every index that its model declares, after any changes.
@Suite struct IndexKeepingTests {
    /// The number of entries in each index of things.
    private func entryCounts(_ store: TestStore) throws -> [Int] {
        let rows = store.container.rowStore
        let entity = try #require(rows.storage.entity(named: "Thing"))
        let snapshot = rows.log.snapshot()
        return try entity.secondaryIndexes.map { index in
            var count = 0
            try snapshot.forEachEntry(in: index.definition, prefix: UnsafeRawBufferPointer(start: nil, count: 0)) {
                _, _ in
                count += 1
                return true
            }
            return count
        }
    }

    private static func fill(_ thing: Indexed.Thing, _ random: inout Seed, _ owners: [Indexed.Owner]) {
        thing.age = random.below(10) - 5
        thing.city = random.pick(["", "Rome", "Roma", "Zürich", "Zu\u{308}rich", "a\u{0}b", "Ōsaka"])
        thing.name = "name \(random.below(40))"
        thing.score = random.pick([nil, 0, -0.0, 1.5, -.infinity, .nan])
        thing.nick = random.oneIn(3) ? nil : "n\(random.below(5))"
        // Stored in the key, too long for a key, and stored outside the row.
        thing.text = String(repeating: "x", count: random.pick([3, 1_500, 5_000])) + "\(random.below(3))"
        thing.owner = random.oneIn(3) ? nil : random.pick(owners)
    }

    @Test(arguments: [UInt64(1), 2, 3]) func `they follow random changes, reopenings and compaction`(
        seed: UInt64
    ) throws {
        var random = Seed(seed)
        let store = try TestStore(Indexed.Thing.self, Indexed.Owner.self)
        var context = store.context()
        var count = 0
        for round in 0..<12 {
            let owners = try context.all(Indexed.Owner.self)
            let made = Indexed.Owner("owner \(round)")
            context.insert(made)
            for _ in 0..<30 {
                let thing = Indexed.Thing(count)
                count += 1
                context.insert(thing)
                Self.fill(thing, &random, owners + [made])
            }
            try context.save()
            let other = store.context()
            for thing in try other.all(Indexed.Thing.self) where random.oneIn(3) {
                switch random.below(4) {
                case 0: other.delete(thing)
                case 1: thing.serial += 1_000
                default: Self.fill(thing, &random, try other.all())
                }
            }
            try other.save()
            // The objects of the first context are older now: its changes are merged into the rows that the other has
            // saved.
            for thing in try context.all(Indexed.Thing.self) where random.oneIn(4) {
                if random.oneIn(2) { thing.age += 1 } else { thing.serial += 1 }
            }
            try context.save()
            if random.oneIn(5) { context.delete(try context.first(Indexed.Owner.self)) }
            try context.save()
            if round % 4 == 3 { _ = try store.container.compact() }
            if round % 3 == 2 { context = try store.reopened() } else { try store.verify() }
            let things = try context.fetchCount(FetchDescriptor<Indexed.Thing>())
            #expect(try entryCounts(store) == Array(repeating: things, count: 6))
        }
    }

    @Test func `an encoded value is not indexed, and the same attributes only once`() throws {
        let store = try TestStore(Shaped.self)
        let entity = try #require(store.container.rowStore.storage.entity(named: "Shaped"))
        #expect(entity.secondaryIndexes.map { $0.slots.map { entity.layout.columns[$0].kind } }.count == 1)
        let context = store.context()
        context.insert(Shaped())
        try context.save()
        try store.reopen()
    }
}

@Model private final class Shaped {
    #Index<Shaped>([\.size], [\.size], [\.numbers])
    var size = 1
    var numbers: [Int] = [1]

    init() {}
}
