internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Refuses a migration that the disk has no room for, before it writes anything.
///
/// The size of its output is unknown. The check assumes that each stage that goes through objects writes as much as it
/// reads, or copies, and a tenth more; large values are not written again. A later stage reads the output of the earlier
/// one, which is counted with the size of the stored objects that it comes from; objects of new entities are not
/// counted. All stages add up: the output of a stage is dropped when the stage after the next one begins, but compaction
/// need not have freed it by then. Resumed migrations are not checked.
struct SpaceCheck {
    let log: Log
    let stored: StoredCatalog
    let steps: [MigrationSteps.Step]
    /// Whether streamed and mapped stages convert a few objects only: their output is not counted.
    var isSample = false

    /// - Throws: `MigrationError` of code `fullDisk`, with the first stage that does not fit; the store's error if it
    ///   cannot be read.
    func run() throws {
        guard steps.contains(where: \.isHeavy), let free = log.freeByteCount else { return }
        let needs = try self.needs()
        let needed = needs.reduce(0, +)
        guard needed > free else { return }
        var sum: UInt64 = 0
        let first = needs.firstIndex { need in
            sum += need
            return sum > free
        }
        throw MigrationError(
            .fullDisk,
            "The stages of the migration need about \(needed) bytes of disk, and \(free) are free. Nothing was written, the store is in its old state. Make room, or leave the check out (checksSpace, --skip-space-check) if the stages make less; a dry run of a sample estimates it.",
            stage: steps[first ?? 0].title)
    }

    /// The bytes that each step needs.
    private func needs() throws -> [UInt64] {
        let snapshot = log.snapshot()
        // Each count goes over all pages of a table.
        var byteCounts: [UInt16: UInt64] = [:]
        func byteCount(of table: UInt16) throws -> UInt64 {
            if let known = byteCounts[table] { return known }
            let byteCount = UInt64(try snapshot.recordByteCount(of: TableID(rawValue: table)))
            byteCounts[table] = byteCount
            return byteCount
        }
        var version = stored.schema
        // The stored table that the objects of an entity come from.
        var tables = Dictionary(stored.map.entities.map { ($0.name, $0.table) }) { first, _ in first }
        func moveOn(to next: Schema) {
            tables = SchemaDifference(from: version, to: next).oldEntityNames.compactMapValues { tables[$0] }
            version = next
        }
        return try steps.map { step in
            moveOn(to: step.from)
            defer { moveOn(to: step.to) }
            guard step.isHeavy, !isSample || step.closures != nil else { return 0 }
            var read = step.convertedEntities.compactMap { tables[$0] }
            if let closures = step.closures {
                let kept = SchemaDifference(from: step.from, to: step.to).oldEntityNames.values
                read = closures.willMigrate == nil ? kept.compactMap { tables[$0] } : Array(tables.values)
                read += stored.map.links.map(\.table)
            }
            let sum = try Set(read).reduce(UInt64(0)) { try $0 + byteCount(of: $1) }
            return sum + sum / 10
        }
    }
}
