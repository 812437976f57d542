import FaultlineDisk
import FaultlineModel
import FaultlineStore
import Testing

struct EntityMapInvariantTests {
    /// Persons with names, and friends that are kept in a table of links.
    private static var schema: Schema {
        let person = Schema.Entity("Person")
        person.storedProperties = [
            Schema.Attribute(name: "name", options: [.unique], valueType: String.self),
            Schema.Relationship(name: "friends", destination: "Person", isToOne: false),
        ]
        let place = Schema.Entity("Place", properties: Schema.Attribute(name: "name", valueType: String.self))
        return Schema(person, place)
    }

    @Test func `a number that is used twice, or will be given again, breaks a rule`() throws {
        let plan = try EntityMapPlan(for: Self.schema)
        try plan.map.checkInvariants(of: plan.newLayouts)
        let faults: [(inout EntityMap) -> Void] = [
            { $0.entities[1].table = $0.entities[0].table },
            { $0.entities[1].layout = $0.entities[0].layout },
            { $0.entities[1].columns[0].number = $0.entities[0].columns[0].number },
            { $0.links[0].leftIndex = $0.links[0].rightIndex },
            { $0.links[0].table = $0.entities[0].table },
            { $0.counters.column = $0.entities[0].columns[0].number },
            { $0.counters.index = $0.links[0].leftIndex },
        ]
        for fault in faults {
            var map = plan.map
            fault(&map)
            let error = #expect(throws: BrokenInvariant.self) { try map.checkInvariants(of: plan.newLayouts) }
            #expect(error?.type == "EntityMap")
            #expect(error?.rule.hasPrefix("a table, column, layout, link or index number") == true)
        }
    }

    @Test func `a column number that stands for two properties breaks a rule`() throws {
        let plan = try EntityMapPlan(for: Self.schema)
        let column = try #require(plan.map.entities.first?.columns.first?.number)
        let other = RowLayout(
            number: plan.map.counters.layout, entityName: "Person",
            columns: [ColumnDescription(number: column, kind: .toOne)])
        let error = #expect(throws: BrokenInvariant.self) {
            try plan.map.checkInvariants(of: plan.newLayouts + [other])
        }
        #expect(error?.rule == "a property that keeps its meaning keeps its column number, under any name")
    }

    @Test func `a property without a column in its layout breaks a rule`() throws {
        let plan = try EntityMapPlan(for: Self.schema)
        var map = plan.map
        map.entities[0].columns.swapAt(0, 1)
        let error = #expect(throws: BrokenInvariant.self) { try map.checkInvariants(of: plan.newLayouts) }
        #expect(error?.rule == "a property that keeps its meaning keeps its column number, under any name")
    }
}
