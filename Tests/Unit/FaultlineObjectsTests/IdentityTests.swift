import Faultline
import FaultlineObjects
import Testing

struct IdentityTests {
    /// Both kinds of class: those whose faults are made without an initializer, and those whose faults are made with
    /// one.
    @Test func objectsByIdentifierAreOneAndKeepTheirChanges() throws {
        let container = try makeContainer()
        let writer = ModelContext(container)
        for number in 0..<200 {
            writer.insert(Plain(number: number, text: "t\(number)"))
            writer.insert(Laden(number: number))
        }
        try writer.save()

        // Nothing was fetched in this context, so its first objects are made by identifier.
        let context = ModelContext(container)
        let plain = try context.fetchIdentifiers(FetchDescriptor<Plain>())
        let laden = try context.fetchIdentifiers(FetchDescriptor<Laden>())
        for round in 1...3 {
            for place in [3, 7, 3, 150, 7, 3] {
                let first = try #require(context.model(for: plain[place]) as? Plain)
                first.text = "round \(round)"
                #expect(context.model(for: plain[place]) as? Plain === first)
                let second = try #require(context.model(for: laden[place]) as? Laden)
                #expect(second.note == "fresh" || second.note == "seen")
                second.note = "seen"
                second.number += 1_000
                #expect(context.model(for: laden[place]) as? Laden === second)
            }
            try context.save()
        }
        let reader = ModelContext(container)
        #expect(try reader.fetch(FetchDescriptor<Plain>())[150].text == "round 3")
        #expect(
            try reader.fetch(FetchDescriptor<Laden>()).map(\.number).filter { $0 >= 1_000 }.sorted() == [
                3_150, 6_007, 9_003,
            ])
    }

    @Test func aSavedObjectThatIsHeldIsTheOneThatIsFetched() throws {
        let context = ModelContext(try makeContainer())
        let held = Plain(number: 1, text: "held")
        context.insert(held)
        context.insert(Plain(number: 2, text: "let go"))
        try context.save()
        let fetched = try context.fetch(FetchDescriptor<Plain>())
        #expect(fetched.map(\.text) == ["held", "let go"])
        #expect(fetched[0] === held)
    }

    @Test func anObjectWhosePlaceIsTakenShowsTheNewValues() throws {
        let context = ModelContext(try makeContainer())
        let held = Plain(number: 1, text: "old")
        context.insert(held)
        try context.save()
        #expect(held.text == "old")
        context.insert(Plain(number: 1, text: "new"))
        try context.save()
        #expect(held.text == "new")
        #expect(try context.fetchCount(FetchDescriptor<Plain>()) == 1)
    }

    @Test func textsOutOfTheRowAreFoundByTheirWords() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let long = String(repeating: "long ", count: 4_000)
        context.insert(Plain(number: 1, text: long + "needle"))
        context.insert(Plain(number: 2, text: long))
        context.insert(Plain(number: 3, text: "needle"))
        try context.save()
        let descriptor = FetchDescriptor<Plain>(predicate: #Predicate { $0.text.contains("needle") })
        let reader = ModelContext(container)
        #expect(try reader.fetchCount(descriptor) == 2)
        #expect(try reader.fetch(descriptor).map(\.number) == [1, 3])
    }

    @Test func aCountByTwoThreadsIsThatOfAWalk() throws {
        let container = try makeContainer()
        let writer = ModelContext(container)
        for number in 1...101_000 {
            writer.insert(Laden(number: number % 1_000))
            if number % 20_000 == 0 { try writer.save() }
        }
        try writer.save()
        let context = ModelContext(container)
        #expect(try context.fetchCount(FetchDescriptor<Laden>(predicate: #Predicate { $0.number < 10 })) == 1_010)
        #expect(context.counters.rowsRead == 101_000)
    }
}
