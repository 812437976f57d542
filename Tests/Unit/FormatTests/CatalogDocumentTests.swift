import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Testing

/// Compares the keys of the catalog's values with the document: renaming a property would change the format.
@Suite struct CatalogDocumentTests {
    private let document: FormatDocument

    init() throws {
        document = try FormatDocument()
    }

    /// The keys of a value, and whether each may be missing.
    private func documentedKeys(of value: String) throws -> [String: Bool] {
        let rows = try document.table(below: "7.1 Keys of catalog entries", columns: ["value", "keys"])
        let row = try #require(rows.first { $0[0] == value }, "The document has no \(value).")
        var keys: [String: Bool] = [:]
        for word in row[1].split(separator: ",") {
            let word = word.trimmingCharacters(in: .whitespaces)
            keys[word.hasSuffix("?") ? String(word.dropLast()) : word] = word.hasSuffix("?")
        }
        return keys
    }

    /// Compares the keys of values of one kind, found below `path` in each sample; `*` matches every element.
    private func compare(_ value: String, _ samples: [any Encodable], _ path: [String] = [], seesAll: Bool = true)
        throws
    {
        let documented = try documentedKeys(of: value)
        var seen: Set<String> = []
        for sample in samples {
            let bytes = try NestedEncoder.encode(sample)
            try bytes.withUnsafeBytes { bytes in
                let root = try #require(NestedView(bytes))
                let found = views(root, path[...])
                #expect(!found.isEmpty, "no \(value)")
                for view in found {
                    let keys = (0..<view.count).map {
                        view.key(at: $0).map { String(decoding: $0, as: UTF8.self) } ?? ""
                    }
                    for (key, mayMiss) in documented where !mayMiss {
                        #expect(keys.contains(key), "\(value) lacks \(key)")
                    }
                    seen.formUnion(keys)
                }
            }
        }
        #expect(seen.isSubset(of: documented.keys), "\(value) has \(seen.subtracting(documented.keys))")
        if seesAll {
            #expect(
                seen.count == documented.count, "\(value): nothing writes \(Set(documented.keys).subtracting(seen))")
        }
    }

    private func views(_ view: NestedView, _ path: ArraySlice<String>) -> [NestedView] {
        guard let step = path.first else { return [view] }
        let rest = path.dropFirst()
        if step == "*" {
            return (0..<view.count).flatMap { place in view.element(at: place).map { views($0, rest) } ?? [] }
        }
        return view.member(step).map { views($0, rest) } ?? []
    }

    private func schema() throws -> Schema {
        try Schema.checked([Keyed.self, Linked.self], version: Schema.Version(1, 2, 3))
    }

    @Test func schemaHasTheDocumentedKeys() throws {
        let schema = try schema()
        try compare("schema", [schema])
        try compare("version", [schema], ["version"])
        try compare("entity", [schema], ["entities", "*"], seesAll: false)
        try compare("indexed text", [schema], ["entities", "*", "indexedTexts", "*"])
        try compare("property", [schema], ["entities", "*", "properties", "*"], seesAll: false)
        try compare("attribute", [schema], ["entities", "*", "properties", "*", "attribute"], seesAll: false)
        try compare("relationship", [schema], ["entities", "*", "properties", "*", "relationship"], seesAll: false)
        try compare(
            "option", [schema], ["entities", "*", "properties", "*", "attribute", "options", "*"], seesAll: false)
        try compare("default", [schema], ["entities", "*", "properties", "*", "attribute", "defaultValue"])

        let tables = try Schema.checked([Heiress.self], version: Schema.Version(1, 2, 3)).tables()
        try compare("entity", [tables], ["entities", "*"], seesAll: false)
        try compare("heir", [tables], ["entities", "*", "heirs", "*"])
        try compare("heir column", [tables], ["entities", "*", "heirs", "*", "columns", "*"])
    }

    @Test func entityMapHasTheDocumentedKeys() throws {
        let plan = try EntityMapPlan(for: schema())
        var map = plan.map
        let tagged = try #require(map.entities[0].columns.firstIndex { $0.name == "rank" })
        let property = try schema().entities[0].properties[tagged] as? Schema.Attribute
        let values = [MissingValue(below: 3, default: nil), MissingValue(below: 4, default: property?.storedDefault)]
        map.entities[0].columns[tagged].missing = values
        try compare("entity map", [map])
        try compare("stored entity", [map], ["entities", "*"])
        try compare("stored column", [map], ["entities", "*", "columns", "*"])
        try compare("missing value", values)
        try compare("unique index", [map], ["entities", "*", "uniqueIndexes", "*"])
        try compare("secondary index", [map], ["entities", "*", "secondaryIndexes", "*"])
        try compare("text index", [map], ["entities", "*", "textIndexes", "*"])
        try compare("link", [map], ["links", "*"])
        try compare("counters", [map], ["counters"])
        try compare("layout", plan.newLayouts)
        try compare("column", plan.newLayouts, ["columns", "*"])
    }

    @Test func migrationHasTheDocumentedKeys() throws {
        let schema = try schema()
        let map = try EntityMapPlan(for: schema).map
        var record = MigrationRecord(
            planDigest: "d", stage: 0, sourceSchema: schema, sourceMap: map, targetSchema: schema, targetMap: map)
        record.report.stages = [StageCounts(place: 0, from: "1.0.0", to: "2.0.0", kind: "mapped")]
        record.report.stages[0].restarts = 1
        record.report.stages[0].entities = [ObjectCounts(name: "Keyed")]
        record.report.stages[0].leftBehind = [
            LeftBehindCounts(entity: "Keyed", attribute: "rank", objects: 1),
            LeftBehindCounts(entity: "Linked", attribute: nil, objects: 1),
        ]
        record.report.stages[0].properties = [CarriedProperty(entity: "Keyed", property: "rank")]
        record.report.stages[0].passes = [PassCounts(name: "instances")]
        record.restart = StageRestart(
            tables: [20, 21], firstBlob: 7, leftBehindCount: 2, counts: record.report, firstQuarantine: 9,
            goesOn: true)
        record.revisions = [0, 2]
        record.attempts = StageAttempts()
        record.attempts?.entity = "Keyed"
        record.attempts?.object = 7
        record.unusedNumbers = map.counters
        record.firstQuarantine = 8
        record.mapped = MappedProgress()
        try compare("migration", [record])
        try compare("mapped progress", [record], ["mapped"])
        try compare("restart", [record], ["restart"])
        try compare("attempts", [record], ["attempts"])
        try compare("switch", [SwitchRecord(sequence: 1, from: "1.0.0", to: "2.0.0")])
        let lineage = SchemaLineage(schema)
        try compare("lineage", [lineage])
        try compare("lineage member", [lineage], ["schemas", "*"])
        try compare("counts", [record], ["report"])
        try compare("stage counts", [record], ["report", "stages", "*"])
        try compare("object counts", [record], ["report", "stages", "*", "entities", "*"])
        try compare("values left behind", [record], ["report", "stages", "*", "leftBehind", "*"])
        try compare("carried property", [record], ["report", "stages", "*", "properties", "*"])
        try compare("pass counts", [record], ["report", "stages", "*", "passes", "*"])
        let without = MigrationRecord(
            planDigest: "d", stage: 0, sourceSchema: schema, sourceMap: map, targetSchema: schema, targetMap: map)
        try compare("migration", [without], seesAll: false)
        let leftBehind: [LeftBehind] = [.blobs([1, 2]), .blobRange(first: 3, end: 9), .table(17)]
        try compare("left behind", leftBehind)
        for one in leftBehind {
            let bytes = try NestedEncoder.encode(one)
            #expect(try bytes.withUnsafeBytes { try NestedDecoder.decode(LeftBehind.self, from: $0) } == one)
        }
    }

    @Test func quarantineHasTheDocumentedKeys() throws {
        let values = [
            QuarantinedValueRecord(name: "name", kind: 15, value: .string("a")),
            QuarantinedValueRecord(name: "photo", kind: 17, value: .large(byteCount: 5), blob: 3),
            QuarantinedValueRecord(name: "owner", kind: 0, value: .object(entity: "Linked", number: 4)),
        ]
        let row = QuarantinedRow(
            from: "1.0.0", to: "2.0.0", entity: "Keyed", object: 7, rule: "code", property: "name", reason: "r",
            values: values, table: 16)
        try compare("quarantined object", [QuarantineEntry.object(row)])
        try compare("quarantined value", [QuarantineEntry.object(row)], ["values", "*"])
        let numbers = QuarantinedNumbers(owner: 1, entity: "Linked", name: "keyed", refer: true, numbers: [2])
        try compare("quarantined numbers", [QuarantineEntry.numbers(numbers)])
    }

    /// Counts written by a release without custom stages.
    private struct EarlierCounts: Encodable {
        var objectsRead = 1
        var objectsWritten = 2
        var objectsFound = 3
        var objectsDropped = 4
        var blobsMoved = 5
        var blobsLeftBehind = 6
        var resumes = 7
    }

    @Test func countsWithoutLaterKeysDecode() throws {
        let bytes = try NestedEncoder.encode(EarlierCounts())
        let counts = try bytes.withUnsafeBytes { try NestedDecoder.decode(MigrationCounts.self, from: $0) }
        #expect(counts.objectsRead == 1 && counts.resumes == 7)
        #expect(counts.objectsCopied == 0 && counts.objectsDeleted == 0 && counts.changesNotSaved == 0)
        #expect(counts.blobBytesRead == 0 && counts.stages.isEmpty)
    }

    @Test func countsThatCannotBeAreRefused() throws {
        var stage = StageCounts(place: 0, from: "1.0.0", to: "2.0.0", kind: "streamed")
        stage.entities = [ObjectCounts(name: "Keyed")]
        var wrong: [MigrationCounts] = [MigrationCounts(), MigrationCounts(), MigrationCounts()]
        wrong[0].objectsRead = -1
        wrong[1].stages = [stage]
        wrong[1].stages[0].entities[0].written = .max
        wrong[2].stages = [stage]
        wrong[2].stages[0].passes = [PassCounts(name: "instances")]
        wrong[2].stages[0].passes[0].byteCount = .max
        for counts in wrong {
            let bytes = try NestedEncoder.encode(counts)
            #expect(throws: DecodingError.self) {
                try bytes.withUnsafeBytes { try NestedDecoder.decode(MigrationCounts.self, from: $0) }
            }
        }
    }
}

@Model private final class Keyed {
    #Index<Keyed>([\.rank, \.name])
    #TextIndex<Keyed>([\.name], weights: [2])
    @Attribute(.unique, originalName: "title") var name: String
    @Attribute(.externalStorage) var picture: Data?
    var rank: Int = 3
    var tags: [String] = ["a"]
    @Relationship(deleteRule: .cascade, inverse: \Linked.keyed) var owned: [Linked] = []
    @Relationship var others: [Linked] = []

    init(name: String) { self.name = name }
}

@Model private class Testatrix {
    var name = "name"
    init() {}
}

@Model(originalName: "Heir") private final class Heiress: Testatrix {
    var part = 1
    override init() { super.init() }
}

@Model private final class Linked {
    var keyed: Keyed?
    init() {}
}
