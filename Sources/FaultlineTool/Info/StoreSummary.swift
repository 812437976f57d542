import FaultlineCommands
import FaultlineDisk
import FaultlineLog
import FaultlineModel
import FaultlineStore

/// The contents of a store, and its size on the disk.
struct StoreSummary {
    let store: String
    let schemaVersion: String
    let sequence: UInt64
    let isMigrating: Bool
    let opening: OpenReport
    let usage: LogUsage
    let entities: [EntitySpace]
    /// Bytes of the engine's own records: the catalog, places of blobs, links, the history.
    let engineByteCount: Int
    /// Records of the history: one for each save, and more for very large ones.
    let historyRecordCount: Int
    /// Bytes of these.
    let historyByteCount: Int
    /// Whether live bytes and space by entity were counted.
    let isCounted: Bool
    /// Why live bytes and space could not be counted, if that was requested.
    let damage: LogError?
    /// Bytes that are free on the file system.
    let freeByteCount: UInt64?
    /// The state before the newest migration, if the store can return to it.
    let kept: KeptStateFigures?
    /// Who has the store open for writing.
    let writer: String?

    /// Inspects a store.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - opened: The store, open for reading.
    ///   - isQuick: Reads neither tables nor rows: live bytes and the entities' space are not counted.
    /// - Throws: If the disk does not answer.
    init(_ path: String, _ opened: OpenedStore, isQuick: Bool) throws {
        store = path
        schemaVersion = "\(opened.catalog.schema.version)"
        sequence = opened.snapshot.sequence
        isMigrating = opened.catalog.migration != nil
        opening = opened.log.openReport
        freeByteCount = try? PosixDisk().freeByteCount(in: path)
        writer = try opened.log.otherWriter()
        var counts: Counts?
        var damage: LogError?
        do {
            if !isQuick { counts = try Counts(opened) }
        } catch let error as LogError where error.isUnreadable {
            damage = error
        }
        isCounted = counts != nil
        self.damage = damage
        kept = try opened.log.keptState(countsLive: counts != nil)
        usage = try counts?.usage ?? opened.log.usage(countsLive: false)
        entities =
            counts?.entities
            ?? opened.rows.storage.entities.map {
                EntitySpace(name: $0.name, objectCount: opened.snapshot.recordCount(of: $0.table))
            }
        engineByteCount = counts?.engineByteCount ?? 0
        historyRecordCount = opened.snapshot.recordCount(of: .history)
        historyByteCount = counts?.historyByteCount ?? 0
    }

    /// Figures that need reading tables and rows.
    private struct Counts {
        let usage: LogUsage
        let entities: [EntitySpace]
        let engineByteCount: Int
        let historyByteCount: Int

        init(_ opened: OpenedStore) throws {
            let storages = opened.rows.storage.entities
            let total = storages.reduce(0) { $0 + opened.snapshot.recordCount(of: $1.table) }
            var progress = ProgressLine("counting", total: total, unit: "objects")
            defer { progress.finish() }
            usage = try opened.log.usage()
            var doneCount = 0
            entities = try storages.map { storage in
                let space = try EntitySpace(storage, of: opened.rows, in: opened.snapshot) {
                    progress.update(doneCount + $0)
                }
                doneCount += space.objectCount
                return space
            }
            historyByteCount = try opened.snapshot.recordByteCount(of: .history)
            let own = usage.recordCounts.keys.filter { table in !storages.contains { $0.table == table } }
            engineByteCount = try own.reduce(0) {
                try $0 + opened.snapshot.recordByteCount(of: $1)
            }
        }
    }

    /// Blobs of all entities.
    var blobCount: Int { usage.recordCounts[.blobs] ?? 0 }

    /// Number, bytes and live bytes of the segments of a kind.
    func segments(of kind: FileKind) -> (count: Int, byteCount: UInt64, liveByteCount: UInt64) {
        usage.segments.filter { $0.kind == kind }.reduce((0, 0, 0)) {
            ($0.0 + 1, $0.1 + $1.byteCount, $0.2 + $1.liveByteCount)
        }
    }
}
