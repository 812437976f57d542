import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

/// Random stores with random damage, compared with the known versions.
struct SalvageModelTests {
    @Test(arguments: Seed.list(40, unoptimized: 10)) func getsOutWhatVerifiesAndInventsNothing(seed: Seed) throws {
        var random = seed
        let history = try SalvageHistory(random.fork(), transactionCount: 5 + random.below(40))
        let store = history.store.killed
        var damage = SalvageDamage(store.disk, dropped: history.dropped, random.fork())
        for _ in 0..<random.below(5) { try damage.strike() }
        let comment: Comment = "\(seed.replayLine): \(damage.text)"

        let salvaged: SalvagedStore
        do {
            salvaged = try SalvagedStore(store)
        } catch let error as LogError {
            // Only if no segment is left.
            #expect(error.code == .notAStore && store.files(.hotSegment).isEmpty, comment)
            return
        }
        let found = try rows(in: salvaged, of: history, comment)
        let intact = newestIntact(damage)
        var keys = Set(history.versions.keys)
        keys.formUnion(found.keys)
        for key in keys { check(key, found[key], intact, history, damage, salvaged, comment) }
        if damage.text.isEmpty { #expect(!salvaged.report.hasLoss, comment) }
    }

    /// The content of the new store.
    private func rows(
        in salvaged: SalvagedStore, of history: SalvageHistory, _ comment: Comment
    ) throws -> [ObjectKey: [UInt8]] {
        let log = try salvaged.open()
        let snapshot = log.snapshot()
        var found: [ObjectKey: [UInt8]] = [:]
        for table in Set(history.versions.keys.map { TableID(rawValue: $0.table) }) {
            for id in 0..<snapshot.nextID(of: table) where try !snapshot.location(of: id, in: table).isAbsent {
                found[ObjectKey(table: table.rawValue, id: id)] =
                    table == .blobs ? try snapshot.blob(id) : try snapshot.row(id, in: table)
            }
            let count = found.keys.filter { $0.table == table.rawValue }.count
            #expect(salvaged.report.recordCounts[table] ?? 0 == count, comment)
        }
        try log.close()
        return found
    }

    /// The newest intact record of each object whose transaction is known to have ended.
    private func newestIntact(_ damage: SalvageDamage) -> [ObjectKey: LogBytes.Record] {
        var newest: [ObjectKey: LogBytes.Record] = [:]
        for record in damage.intactRecords() {
            if record.operation == 5 {
                for key in newest.keys where key.table == record.table { newest[key] = record }
            } else {
                newest[ObjectKey(table: record.table, id: record.id)] = record
            }
        }
        return newest
    }

    private func check(
        _ key: ObjectKey, _ found: [UInt8]?, _ intact: [ObjectKey: LogBytes.Record], _ history: SalvageHistory,
        _ damage: SalvageDamage, _ salvaged: SalvagedStore, _ comment: Comment
    ) {
        let versions = history.versions[key] ?? []
        let version = found.flatMap { row in versions.last { $0.row == row } }
        #expect(found == nil || version != nil, "invented: \(key); \(comment)")

        // No older than the newest intact one.
        if let newest = intact[key] {
            if let version {
                // Compaction writes a blob's new placement in a separate transaction.
                let isPlacedAgain = key.table == 2 && newest.operation == 1
                #expect(
                    isPlacedAgain || version.sequence > newest.sequence
                        || newest.operation == 1 && version.sequence == newest.sequence,
                    "\(key) is of \(version.sequence), \(newest) is intact; \(comment)")
            } else if newest.operation == 1, key.table != 2 || damage.areBlobsIntact {
                let hasEnded = versions.contains { $0.row == nil && $0.sequence >= newest.sequence }
                // Compaction may have written a new placement of a blob, and dropped the segment of the older one.
                let isLostBlob = key.table == 2 && salvaged.report.lostBlobCount > 0
                #expect(hasEnded || isLostBlob, "\(key) is missing, \(newest) is intact; \(comment)")
            }
        }

        // An object that is not the newest is reported, if anything shows that there was a newer one.
        guard history.isClosed, damage.areManifestsIntact else { return }
        let newest = history.newest(key)
        guard found != newest?.row else { return }
        if let version {
            #expect(
                salvaged.isReported(key.id, in: TableID(rawValue: key.table))
                    || version.sequence <= salvaged.lastLost,
                "\(key) is old; \(comment)")
        }
        #expect(salvaged.report.hasLoss, "\(key) is missing; \(comment)")
    }
}
