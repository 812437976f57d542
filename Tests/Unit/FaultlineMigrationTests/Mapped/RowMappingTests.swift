import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// Mappings without code, which make rows of rows, have the same result as by objects, which they make with a
/// quarantine.
struct RowMappingTests {
    private struct Result {
        var outcome: [String] = []
        var rows: [String: [UInt8]] = [:]
        var passes: [MigrationPass] = []
        var report: MigrationReport?
    }

    private func migrate(_ item: RowMappingCase, byObjects: Bool) throws -> Result {
        let store = try ChangedStore(item.old, item.objects)
        try store.open(item.old) { _, context in
            for entity in item.old.entities {
                for object in try context.fetch(FetchRequest(entityName: entity.name))
                where item.deleted.contains(object["n"] as? String ?? "") { context.delete(object) }
            }
            try context.save()
        }
        var result = Result()
        let passes = PassNotes()
        func set(_ options: inout StoreOptions.Migration) {
            options.progress = { progress in passes.add(progress.pass) }
            if byObjects { options.onFailure = .quarantine() }
        }
        try store.open(item.new, mapping: item.model, set) { container, context in
            result.outcome = try store.outcome(context)
            result.rows = try store.rows(container)
            result.report = container.migrationReport
            #expect(try store.findings(container) == [])
        }
        result.passes = passes.all
        return result
    }

    @Test(arguments: RowMappingCase.all)
    func `rows are those that objects would have`(item: RowMappingCase) throws {
        let byRows = try migrate(item, byObjects: false)
        let byObjects = try migrate(item, byObjects: true)
        #expect(byRows.outcome == byObjects.outcome && !byRows.outcome.isEmpty)
        if !item.hasBlobs {
            let keys = Set(byRows.rows.keys).union(byObjects.rows.keys)
            #expect(keys.filter { byRows.rows[$0] != byObjects.rows[$0] }.sorted() == [])
        }
        // Objects are only made for relationships that rows do not have.
        #expect(byRows.passes.contains(.relationships) == item.relates)
        let (rows, objects) = try (#require(byRows.report), #require(byObjects.report))
        #expect(rows.objectsRead == objects.objectsRead && rows.objectsWritten == objects.objectsWritten)
        #expect(rows.objectsDropped == objects.objectsDropped && rows.blobBytesRead <= objects.blobBytesRead)
        #expect(rows.stages.map(\.mappings) == objects.stages.map(\.mappings))
    }

    private typealias Change = SchemaChange
    private typealias Sample = SchemaChange.Sample

    @Test func `a large value with an index is moved unread`() throws {
        func thing(_ extra: [any SchemaProperty], indices: [[String]]) -> Schema.Entity {
            let thing = Change.entity("Thing", Change.value("photo", Data?.self), Change.value("text", String?.self))
            return Schema.Entity(
                "Thing", subentities: [], properties: thing.properties + extra, uniquenessConstraints: [],
                indices: indices)
        }
        let new = thing([Change.value("x", Int.self, default: 0)], indices: [["photo"], ["text"]])
        let store = try ChangedStore(
            Schema(entities: [thing([], indices: [])]),
            [
                Sample(
                    "Thing", "1",
                    ["photo": Data(repeating: 1, count: 70_000), "text": String(repeating: "t", count: 20_000)])
            ])
        try store.open(
            Schema(entities: [new], version: Schema.Version(2, 0, 0)),
            mapping: MappingModel(EntityMapping(from: "Thing", to: "Thing"))
        ) { container, context in
            let report = container.migrationReport
            #expect(report.blobBytesRead == 0 && report.blobBytesWritten == 0 && report.blobBytesMoved == 90_000)
            let findings = try store.findings(container)
            #expect(findings == [])
            let isFound = Filter.key("photo") == Data(repeating: 1, count: 70_000)
            let found = try context.fetch(FetchRequest(entityName: "Thing", filter: isFound))
            #expect(found.count == 1)
        }
    }

    /// Numbers of one entity say nothing about those of another.
    @Test(arguments: ["Other->To", "none"])
    func `a relationship by a mapping that reads other objects is refused`(name: String) throws {
        func schema(_ version: Int) -> Schema {
            Schema(
                entities: [
                    Change.entity("From", Change.one("to", "To")), Change.entity("To"), Change.entity("Other"),
                ], version: Schema.Version(version, 0, 0))
        }
        let store = try ChangedStore(schema(1), [Sample("To", "t"), Sample("From", "f", to: ["to": ["t"]])])
        var new = schema(2).entities
        new[0] = Change.entity("From", Change.one("to", "To"), Change.value("x", Int.self, default: 0))
        let maker =
            name == "none"
            ? EntityMapping(from: nil, to: "To", name: name) : EntityMapping(from: "Other", to: "To", name: name)
        let model = MappingModel(
            EntityMapping(
                from: "From", to: "From",
                relationships: [PropertyMapping("to", .destinations(of: "to", by: name))]),
            maker, EntityMapping(from: "To", to: nil))
        let error = #expect(throws: MigrationError.self) {
            try store.open(Schema(entities: new, version: Schema.Version(2, 0, 0)), mapping: model) { _, _ in }
        }
        #expect(error?.code == .badPlan && error?.entityName == "From" && error?.propertyName == "to")
    }
}

/// Records the passes that a migration reports.
final class PassNotes: Sendable {
    private let passes = Guarded<[MigrationPass]>([])

    func add(_ pass: MigrationPass) { passes.withLock { $0.append(pass) } }
    var all: [MigrationPass] { passes.withLock { $0 } }
}
