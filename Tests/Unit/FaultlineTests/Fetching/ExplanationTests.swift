import Faultline
import FaultlineTestSupport
import Testing

@Suite struct ExplanationTests {
    @Test func itSaysWhichIndexAndWhatItTakes() throws {
        let store = try TestStore(User.self)
        let writing = store.context()
        let teams = (0..<2).map { Team("t\($0)") }
        teams.forEach(writing.insert)
        for number in 0..<100 { writing.insert(User("\(number)", age: number % 10, team: teams[number % 2])) }
        try writing.save()
        let team = teams[1].persistentModelID
        let context = try store.reopened()

        func check(
            _ access: FetchExplanation.Access, rows: Int, faults: Int = 0, found: Int,
            sortedBy: [SortDescriptor<User>] = [], isOrdered: Bool = true, _ predicate: Predicate<User>?
        ) throws {
            let explanation = try context.explain(FetchDescriptor(predicate: predicate, sortBy: sortedBy))
            #expect(explanation.access == access)
            #expect(explanation.rowsRead == rows, "\(explanation)")
            #expect(explanation.faultsFired == faults, "\(explanation)")
            #expect(explanation.foundCount == found)
            #expect(explanation.isAnsweredByRows)
            #expect(explanation.isOrderedByRows == isOrdered)
        }
        try check(.everything, rows: 0, found: 100, nil)
        try check(.scan, rows: 100, found: 10, #Predicate { $0.age == 3 })
        try check(.uniqueIndex(property: "email"), rows: 1, found: 1, #Predicate { $0.email == "42" && $0.age == 2 })
        try check(
            .memberIndex(relationship: "team"), rows: 50, found: 50,
            #Predicate { $0.team?.persistentModelID == team })
        let ids = try context.fetchIdentifiers(FetchDescriptor<User>()).prefix(3)
        let identifiers = Array(ids)
        let before = context.counters.rowsRead
        try check(
            .identifiers(count: 3), rows: 3, found: 3, #Predicate { identifiers.contains($0.persistentModelID) })
        try check(.scan, rows: 100, found: 100, #Predicate { $0.age * 2 < 100 })
        try check(.scan, rows: 100, found: 100, sortedBy: [SortDescriptor(\.age)], nil)
        // Two teams, read again for each object: their faults are released in between.
        let related = try context.explain(FetchDescriptor<User>(sortBy: [SortDescriptor(\.team?.name)]))
        #expect(!related.isOrderedByRows)
        #expect(related.faultsFired > 0)
        #expect(context.counters.rowsRead == before)
        #expect(
            try context.explain(FetchDescriptor<User>(predicate: #Predicate { $0.email == "7" })).description
                == "the unique index of User.email; answered on rows; ordered by rows; 1 found, 1 rows read, 0 faults fired"
        )
        let missing = try context.explain(FetchDescriptor<User>(predicate: #Predicate { $0.email == "none" }))
        #expect((missing.foundCount, missing.rowsRead) == (0, 0))
    }
}
