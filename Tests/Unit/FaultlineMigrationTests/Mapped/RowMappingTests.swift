import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// Mappings without code, which make rows of rows, have the same result as by objects, which they make with a quarantine.
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
}

/// Records the passes that a migration reports.
final class PassNotes: Sendable {
    private let passes = Guarded<[MigrationPass]>([])

    func add(_ pass: MigrationPass) { passes.withLock { $0.append(pass) } }
    var all: [MigrationPass] { passes.withLock { $0 } }
}
