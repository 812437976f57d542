import Faultline
import FaultlineModel
import FaultlineObjects
import FaultlineStore
import Testing

/// The schema of the tables of a hierarchy, and searches for words in it.
struct HierarchySchemaTests {
    private func tables() throws -> Schema {
        try Schema.checked(
            [Trip.self, ConferenceTrip.self, PrivateTrip.self], version: Schema.Version(1, 0, 0)
        ).tables()
    }

    @Test func `a table has the properties of all classes, and a mark for each subclass`() throws {
        let table = try #require(try tables().entitiesByName["Trip"])
        #expect(
            table.properties.map(\.name) == [
                "name", "days", "note", "traveller", "code", "$BusinessTrip", "company", "BusinessTrip.cost", "agency",
                "ticket", "draft", "receipt", "colleagues", "$ConferenceTrip", "talk", "slides", "$PrivateTrip",
                "PrivateTrip.cost", "mood",
            ])
        #expect(table.heirs.map(\.name) == ["BusinessTrip", "ConferenceTrip", "PrivateTrip"])
        #expect(table.heirs.map(\.superName) == ["Trip", "BusinessTrip", "Trip"])
        let attributes = table.properties.compactMap { $0 as? Schema.Attribute }
        #expect(attributes.filter { !$0.isOptional }.map(\.name) == ["name", "days"])
        #expect(table.uniquenessConstraints == [["$BusinessTrip", "note"]])
        #expect(table.columnNames(ofClass: "ConferenceTrip")["cost"] == "BusinessTrip.cost")
        #expect(try tables().entitiesByName["Agency"]?.relationshipsByName["bookings"]?.destination == "Trip")
        #expect(try tables().entitiesByName["BusinessTrip"] == nil)
    }

    @Test func `the order in which classes are listed does not matter`() throws {
        let other = try Schema.checked(
            [PrivateTrip.self, ConferenceTrip.self, Trip.self], version: Schema.Version(1, 0, 0)
        ).tables()
        #expect(try other == tables() && other.fingerprint == tables().fingerprint)
    }

    @Test func `a schema without subclasses is its own`() throws {
        let schema = try Schema.checked([Document.self], version: Schema.Version(1, 0, 0))
        #expect(try schema.tables() === schema)
    }

    @Test func `the schema of tables has a written form and a fingerprint of its own`() throws {
        let tables = try tables()
        let read = try Schema(encoded: tables.encoded())
        #expect(read == tables && read.fingerprint == tables.fingerprint)
        let other = try Schema.checked([Trip.self, PrivateTrip.self], version: Schema.Version(1, 0, 0)).tables()
        #expect(other.fingerprint != tables.fingerprint)
        let copy = tables.copied()
        #expect(copy == tables)
        copy.entitiesByName["Trip"]?.heirs[0].columns[0].isOptional = true
        #expect(copy != tables && copy.fingerprint != tables.fingerprint)
    }

    @Test func `a list of heirs that contradicts itself is damage`() throws {
        for change in 0..<3 {
            let copy = try tables().copied()
            let table = try #require(copy.entitiesByName["Trip"])
            switch change {
            case 0: table.heirs[1].superName = "Missing"
            case 1: table.heirs[0].columns[0].column = "nowhere"
            default: table.heirs[2].name = "Unmarked"
            }
            let plan = try EntityMapPlan(for: try tables())
            let layouts = Dictionary(plan.newLayouts.map { ($0.number, $0) }) { first, _ in first }
            #expect(throws: StoreError.self) {
                try SchemaStorage(StoredCatalog(schema: copy, map: plan.map, layouts: layouts))
            }
        }
    }

    @Test func `a text index of the root class finds objects of all classes`() throws {
        let store = try TestStore(Letter.self, Postcard.self)
        let context = store.context()
        context.insert(Letter(text: "greetings from Rome"))
        context.insert(Postcard(text: "greetings from the sea", picture: "boat"))
        try context.save()
        let other = try store.reopened()
        #expect(try other.search(Letter.self, "greetings").count == 2)
        #expect(try other.search(Letter.self, "sea").map { ($0.object as? Postcard)?.picture } == ["boat"])
        #expect(try other.search(Postcard.self, "greetings").map(\.object.picture) == ["boat"])
    }

    @Test func `a text index of a subclass is refused`() throws {
        do {
            _ = try ModelContainer(
                for: Letter.self, Telegram.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
            Issue.record("a text index of a subclass was accepted")
        } catch let error as SchemaError {
            #expect(error.code == .invalidTextIndex && error.entityName == "Telegram")
        }
    }
}

@Model class Letter {
    #TextIndex<Letter>([\.text])
    var text: String
    init(text: String) { self.text = text }
}

@Model final class Postcard: Letter {
    var picture: String
    init(text: String, picture: String) {
        self.picture = picture
        super.init(text: text)
    }
}

@Model final class Telegram: Letter {
    #TextIndex<Telegram>([\.code])
    var code: String = ""
    override init(text: String) { super.init(text: text) }
}
