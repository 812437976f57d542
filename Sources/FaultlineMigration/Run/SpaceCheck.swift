internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Refuses a migration that the disk has no room for, before it writes anything.
///
/// The size of its output is unknown. The check assumes that the first stage that goes through objects writes as much
/// as it reads, and a tenth more; large values are not written again. Resumed migrations are not checked.
struct SpaceCheck {
    let log: Log
    let stored: StoredCatalog
    let steps: [MigrationSteps.Step]

    /// - Throws: `MigrationError` of code `fullDisk`; the store's error if it cannot be read.
    func run() throws {
        guard let step = steps.first(where: \.isHeavy), let free = log.freeByteCount else { return }
        let oldNames = SchemaDifference(from: stored.schema, to: step.from).oldEntityNames
        let tables = step.convertedEntities.compactMap { stored.map.entity(named: oldNames[$0] ?? $0)?.table }
        let snapshot = log.snapshot()
        let read = try tables.reduce(0) { try $0 + snapshot.recordByteCount(of: TableID(rawValue: $1)) }
        let needed = UInt64(read) + UInt64(read) / 10
        guard needed > free else { return }
        throw MigrationError(
            .fullDisk,
            "The stage of the migration needs about \(needed) bytes of disk, and \(free) are free. Nothing was written, the store is in its old state. Make room, or leave the check out (checksSpace, --skip-space-check) if the stage makes less; a dry run of a sample estimates it.",
            stage: step.title)
    }
}
