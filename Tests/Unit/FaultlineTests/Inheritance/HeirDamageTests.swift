import Faultline
import FaultlineModel
import FaultlineObjects
import FaultlineStore
import Testing

/// Catalogs whose lists of subclasses do not agree with their tables.
struct HeirDamageTests {
    @Test func `a mark of another type, and a column with two properties, are damage`() throws {
        let types: [any PersistentModel.Type] = [Trip.self, ConferenceTrip.self, PrivateTrip.self]
        let tables = try Schema.checked(types, version: Schema.Version(1, 0, 0)).tables()
        let plan = try EntityMapPlan(for: tables)
        let layouts = Dictionary(plan.newLayouts.map { ($0.number, $0) }) { first, _ in first }
        for change in 0..<3 {
            let copy = tables.copied()
            let table = try #require(copy.entitiesByName["Trip"])
            let place = try #require(table.storedProperties.firstIndex { $0.name == "$BusinessTrip" })
            switch change {
            case 0: table.storedProperties[place] = Schema.Attribute(name: "$BusinessTrip", valueType: Bool.self)
            case 1: table.heirs[0].columns[1].column = table.heirs[0].columns[0].column
            default: break
            }
            let catalog = StoredCatalog(schema: copy, map: plan.map, layouts: layouts)
            if change == 2 {
                #expect(try SchemaStorage(catalog).entities.count == tables.entities.count)
            } else {
                #expect(throws: StoreError.self) { try SchemaStorage(catalog) }
            }
        }
    }
}
