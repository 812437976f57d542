import Faultline
import FaultlineTestSupport
import Foundation
import Testing

/// A fetch finds the same objects with indexes as without, in the same order.
@Suite struct IndexedFetchTests {
    /// Two stores with the same objects, one of them with indexes, and contexts with the same unsaved changes.
    private final class Pair {
        let plain: TestStore
        let indexed: TestStore
        var contexts: (ModelContext, ModelContext)
        var count = 0

        init() throws {
            plain = try TestStore(Plain.Thing.self, Plain.Owner.self)
            indexed = try TestStore(Indexed.Thing.self, Indexed.Owner.self)
            contexts = (plain.context(), indexed.context())
        }

        func save() throws {
            try contexts.0.save()
            try contexts.1.save()
        }

        func reopen() throws {
            contexts = (try plain.reopened(), try indexed.reopened())
        }

        func begin() { contexts = (plain.context(), indexed.context()) }

        func insert(_ values: Values) {
            count += 1
            let first = Plain.Thing(count)
            let second = Indexed.Thing(count)
            contexts.0.insert(first)
            contexts.1.insert(second)
            (first.age, first.city, first.name, first.score, first.nick, first.text) = values.all
            (second.age, second.city, second.name, second.score, second.nick, second.text) = values.all
        }

        /// Changes or deletes the things with the given serial numbers.
        func change(_ changes: [Int: Values?]) throws {
            for thing in try contexts.0.all(Plain.Thing.self) {
                guard let change = changes[thing.serial] else { continue }
                guard let values = change else {
                    contexts.0.delete(thing)
                    continue
                }
                (thing.age, thing.city, thing.name, thing.score, thing.nick, thing.text) = values.all
            }
            for thing in try contexts.1.all(Indexed.Thing.self) {
                guard let change = changes[thing.serial] else { continue }
                guard let values = change else {
                    contexts.1.delete(thing)
                    continue
                }
                (thing.age, thing.city, thing.name, thing.score, thing.nick, thing.text) = values.all
            }
        }
    }

    private struct Values {
        var all: (Int, String, String, Double?, String?, String)

        init(_ random: inout Seed) {
            all = (
                random.below(12) - 6,
                random.pick(["", "Rome", "Roma", "Zürich", "Zu\u{308}rich", "e", "e\u{301}a", "a\u{0}b", "Ōsaka"]),
                "name \(random.below(40))",
                random.pick([nil, 0, -0.0, 1.5, -.infinity, .infinity, .nan, -3]),
                random.oneIn(3) ? nil : "n\(random.below(5))",
                // Stored in the key, too long for a key, and stored outside the row. The last two are rare, so that the
                // index sometimes provides an order.
                random.oneIn(60)
                    ? String(repeating: "x", count: random.pick([1_500, 5_000])) + "\(random.below(3))"
                    : "t\(random.below(30))"
            )
        }
    }

    /// One query, for both models.
    private struct Question {
        var plain: Predicate<Plain.Thing>?
        var indexed: Predicate<Indexed.Thing>?
    }

    private static func question(_ random: inout Seed) -> Question {
        let age = random.below(14) - 7
        let other = age + random.below(5)
        let city = random.pick(["", "Rome", "Z\u{fc}rich", "e", "\u{e9}a", "a\u{0}b", "none"])
        let start = random.pick(["", "R", "Rom", "Zu", "Z", "e", "\u{e9}", "a\u{0}"])
        let name = "name \(random.below(42))"
        let score = random.pick([0, 1.5, -.infinity, .nan, -4])
        let nick: String? = random.pick([nil, "n1", "n9"])
        let text = random.pick(["t3", "t", String(repeating: "x", count: 1_500) + "1"])
        let ages = (0..<random.below(4)).map { _ in random.below(14) - 7 }
        let names: [String?] = random.pick([[], ["n1", nil, "n2", "n1"]])
        switch random.below(16) {
        case 0: return Question(plain: #Predicate { $0.age == age }, indexed: #Predicate { $0.age == age })
        case 1:
            return Question(
                plain: #Predicate { $0.age > age && $0.age <= other },
                indexed: #Predicate { $0.age > age && $0.age <= other })
        case 2:
            return Question(
                plain: #Predicate { $0.city == city && $0.age >= age },
                indexed: #Predicate { $0.city == city && $0.age >= age })
        case 3: return Question(plain: #Predicate { $0.city == city }, indexed: #Predicate { $0.city == city })
        case 4:
            return Question(
                plain: #Predicate { $0.city.starts(with: start) }, indexed: #Predicate { $0.city.starts(with: start) })
        case 5: return Question(plain: #Predicate { $0.nick == nick }, indexed: #Predicate { $0.nick == nick })
        case 6:
            return Question(
                plain: #Predicate { $0.name == name && $0.score == score },
                indexed: #Predicate { $0.name == name && $0.score == score })
        case 7: return Question(plain: #Predicate { $0.text == text }, indexed: #Predicate { $0.text == text })
        case 8:
            return Question(
                plain: #Predicate { ages.contains($0.age) }, indexed: #Predicate { ages.contains($0.age) })
        case 9:
            return Question(
                plain: #Predicate { names.contains($0.nick) }, indexed: #Predicate { names.contains($0.nick) })
        case 10:
            return Question(
                plain: #Predicate { $0.age == age && $0.serial % 2 == 0 },
                indexed: #Predicate { $0.age == age && $0.serial % 2 == 0 })
        case 11:
            return Question(
                plain: #Predicate { $0.city < city && $0.city > start },
                indexed: #Predicate { $0.city < city && $0.city > start })
        case 12:
            return Question(
                plain: #Predicate { $0.age == age || $0.city == city },
                indexed: #Predicate { $0.age == age || $0.city == city })
        case 13:
            return Question(
                plain: #Predicate { ages.contains($0.age) && $0.age < other },
                indexed: #Predicate { ages.contains($0.age) && $0.age < other })
        case 14: return Question(plain: #Predicate { $0.text > text }, indexed: #Predicate { $0.text > text })
        default: return Question()
        }
    }

    private static func orders(
        _ random: inout Seed
    ) -> (plain: [SortDescriptor<Plain.Thing>], indexed: [SortDescriptor<Indexed.Thing>]) {
        let one: SortOrder = random.oneIn(2) ? .forward : .reverse
        let two: SortOrder = random.oneIn(4) ? .forward : one
        switch random.below(8) {
        case 0: return ([SortDescriptor(\.age, order: one)], [SortDescriptor(\.age, order: one)])
        case 1:
            return (
                [SortDescriptor(\.city, order: one), SortDescriptor(\.age, order: two)],
                [SortDescriptor(\.city, order: one), SortDescriptor(\.age, order: two)]
            )
        case 2: return ([SortDescriptor(\.nick, order: one)], [SortDescriptor(\.nick, order: one)])
        case 3:
            return (
                [SortDescriptor(\.name, order: one), SortDescriptor(\.score, order: two)],
                [SortDescriptor(\.name, order: one), SortDescriptor(\.score, order: two)]
            )
        case 4: return ([SortDescriptor(\.text, order: one)], [SortDescriptor(\.text, order: one)])
        case 5: return ([SortDescriptor(\.score, order: one)], [SortDescriptor(\.score, order: one)])
        case 6: return ([SortDescriptor(\.city, order: one)], [SortDescriptor(\.city, order: one)])
        default: return ([], [])
        }
    }

    private func compare(_ pair: Pair, _ random: inout Seed, _ uses: inout [String: Int]) throws {
        let question = Self.question(&random)
        let orders = Self.orders(&random)
        var first = FetchDescriptor(predicate: question.plain, sortBy: orders.plain)
        var second = FetchDescriptor(predicate: question.indexed, sortBy: orders.indexed)
        if random.oneIn(2) {
            first.fetchLimit = random.below(12)
            first.fetchOffset = random.oneIn(2) ? nil : random.below(9)
        }
        (second.fetchLimit, second.fetchOffset) = (first.fetchLimit, first.fetchOffset)
        first.includePendingChanges = !random.oneIn(5)
        second.includePendingChanges = first.includePendingChanges
        let wanted = try pair.contexts.0.fetch(first).map(\.serial)
        let found = try pair.contexts.1.fetch(second).map(\.serial)
        let explanation = try pair.contexts.1.explain(second)
        #expect(found == wanted, "\(explanation): \(String(describing: question.plain))")
        try #expect(pair.contexts.1.fetchCount(second) == pair.contexts.0.fetchCount(first), "\(explanation)")
        try #expect(pair.contexts.1.fetchIdentifiers(second).count == wanted.count)
        var walked: ([Int], [Int]) = ([], [])
        try pair.contexts.0.enumerate(first, batchSize: 7, allowEscapingMutations: true) { walked.0.append($0.serial) }
        try pair.contexts.1.enumerate(second, batchSize: 7, allowEscapingMutations: true) { walked.1.append($0.serial) }
        #expect(walked.0 == walked.1, "\(explanation)")
        if case .index = explanation.access { uses["used", default: 0] += 1 }
        if explanation.isOrderedByIndex { uses["ordered", default: 0] += 1 }
    }

    @Test(arguments: [UInt64(11), 12, 13, 14]) func `results are those of a store without indexes`(seed: UInt64) throws
    {
        var random = Seed(seed)
        let pair = try Pair()
        var uses: [String: Int] = [:]
        for round in 0..<10 {
            for _ in 0..<40 { pair.insert(Values(&random)) }
            try pair.save()
            for _ in 0..<2 {
                var changes: [Int: Values?] = [:]
                for serial in 1...pair.count where random.oneIn(8) {
                    changes[serial] = .some(random.oneIn(4) ? nil : Values(&random))
                }
                try pair.change(changes)
                for _ in 0..<random.below(4) { pair.insert(Values(&random)) }
                // With unsaved changes.
                for _ in 0..<12 { try compare(pair, &random, &uses) }
                try pair.save()
                pair.begin()
                for _ in 0..<12 { try compare(pair, &random, &uses) }
            }
            if round % 3 == 1 { _ = try pair.indexed.container.compact() }
            if round % 2 == 1 { try pair.reopen() }
        }
        #expect(uses["used", default: 0] > 100)
        #expect(uses["ordered", default: 0] > 10)
    }

    /// A saved store of things with ages from 0 to 99, each ten times.
    private func makeAges(count: Int = 1_000) throws -> (TestStore, ModelContext) {
        let store = try TestStore(Indexed.Thing.self, Indexed.Owner.self)
        let context = store.context()
        for serial in 0..<count {
            let thing = Indexed.Thing(serial)
            thing.age = serial % 100
            thing.city = "city \(serial % 4)"
            context.insert(thing)
        }
        try context.save()
        return (store, try store.reopened())
    }

    @Test func `it reads the rows that it names, and no others`() throws {
        let (_, context) = try makeAges()
        func check(
            _ access: FetchExplanation.Access, rows: Int, found: Int, isOrdered: Bool = false,
            _ predicate: Predicate<Indexed.Thing>?, sortBy: [SortDescriptor<Indexed.Thing>] = [], limit: Int? = nil,
            offset: Int? = nil
        ) throws {
            var descriptor = FetchDescriptor(predicate: predicate, sortBy: sortBy)
            descriptor.fetchLimit = limit
            descriptor.fetchOffset = offset
            let explanation = try context.explain(descriptor)
            #expect(explanation.access == access, "\(explanation)")
            #expect(explanation.rowsRead == rows, "\(explanation)")
            #expect(explanation.foundCount == found, "\(explanation)")
            #expect(explanation.isOrderedByIndex == isOrdered, "\(explanation)")
        }
        let age = FetchExplanation.Access.index(properties: ["age"])
        let both = FetchExplanation.Access.index(properties: ["city", "age"])
        try check(age, rows: 10, found: 10, #Predicate { $0.age == 7 })
        try check(age, rows: 20, found: 20, #Predicate { $0.age >= 98 })
        try check(age, rows: 10, found: 1, #Predicate { $0.age == 7 && $0.serial == 107 })
        try check(both, rows: 10, found: 10, #Predicate { $0.city == "city 3" && $0.age == 7 })
        try check(both, rows: 250, found: 250, #Predicate { $0.city == "city 3" })
        try check(.scan, rows: 1_000, found: 10, #Predicate { $0.serial < 10 })
        let byAge = [SortDescriptor(\Indexed.Thing.age)]
        let byAgeDown = [SortDescriptor(\Indexed.Thing.age, order: .reverse)]
        try check(age, rows: 15, found: 15, isOrdered: true, nil, sortBy: byAge, limit: 15)
        try check(age, rows: 15, found: 15, isOrdered: true, nil, sortBy: byAgeDown, limit: 15)
        try check(age, rows: 25, found: 15, isOrdered: true, nil, sortBy: byAgeDown, limit: 15, offset: 10)
        try check(.scan, rows: 1_000, found: 1_000, nil, sortBy: byAge)
        try check(
            both, rows: 5, found: 5, isOrdered: true, #Predicate { $0.city == "city 1" }, sortBy: byAgeDown, limit: 5)
        try check(
            age, rows: 3, found: 3, isOrdered: true, #Predicate { $0.age > 40 && $0.age < 60 }, sortBy: byAge, limit: 3)
        let text = try context.explain(FetchDescriptor<Indexed.Thing>(predicate: #Predicate { $0.age == 7 }))
            .description
        #expect(
            text
                == "the index of Thing.(age); answered on rows; ordered by rows; 10 found, 10 rows read, 0 faults fired"
        )
        let before = context.counters.rowsRead
        try #expect(context.fetchCount(FetchDescriptor<Indexed.Thing>(predicate: #Predicate { $0.age < 30 })) == 300)
        #expect(context.counters.rowsRead == before)
    }

    @Test func `an index that names many objects is not used, nor an order that few objects satisfy`() throws {
        let (_, context) = try makeAges(count: 20_000)
        let many = try context.explain(FetchDescriptor<Indexed.Thing>(predicate: #Predicate { $0.age < 50 }))
        #expect(many.access == .scan)
        #expect((many.rowsRead, many.foundCount) == (20_000, 10_000))
        var rare = FetchDescriptor<Indexed.Thing>(
            predicate: #Predicate { $0.serial == 19_999 }, sortBy: [SortDescriptor(\.age)])
        rare.fetchLimit = 5
        let found = try context.explain(rare)
        #expect(found.access == .scan)
        #expect(!found.isOrderedByIndex)
        #expect(found.foundCount == 1)
        #expect(found.rowsRead < 22_000)
    }
}
