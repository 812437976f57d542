import FaultlineCommands
import FaultlineLog
import FaultlineMigration
import FaultlineStore

extension StoreCheck {
    /// Counts the blobs that nothing refers to, once the check has marked those of the first window.
    ///
    /// - Throws: Only if the disk does not answer.
    func countOrphans() throws {
        guard store.snapshot.recordCount(of: .blobs) > 0 else { return }
        orphans.isMigrating = try isMigrating()
        var isFirst = true
        repeat {
            try markQuarantined(counting: isFirst)
            if !isFirst { for entity in store.rows.storage.entities { try mark(entity) } }
            isFirst = false
            try search.forEachUnmarked(in: store.snapshot) { _, placement in
                orphans.count += 1
                orphans.byteCount += placement.storedByteCount
                guard store.log.isHeldByKeptState(segment: placement.segment) else { return }
                orphans.heldCount += 1
                orphans.heldByteCount += placement.storedByteCount
            }
        } while search.advance()
    }

    /// Marks the blobs of a later window, which takes a pass of its own.
    private func mark(_ entity: EntityStorage) throws {
        guard !entity.variableSlots.isEmpty else { return }
        try store.snapshot.scanPastDamage(entity.table, readAhead: 256 << 10) { _ in
        } _: { records in
            for record in records {
                guard let row = try? store.rows.view(record, of: entity) else { continue }
                for slot in entity.variableSlots where !row.isNil(slot) {
                    if let blob = row.blobReference(slot) { search.mark(blob.identifier) }
                }
            }
            return true
        }
    }

    /// Objects that migrations could not convert have their large values still.
    private func markQuarantined(counting counts: Bool) throws {
        do {
            try Quarantine(store.log).enumerate { object in
                for blob in object.blobs { search.mark(blob) }
            }
        } catch {
            if counts { orphans.unreadableCount += 1 }
        }
    }

    private func isMigrating() throws -> Bool {
        if store.catalog.migration != nil { return true }
        let first = StoredCatalog.RecordNumber.leftBehind
        var id = first
        let end = store.snapshot.nextID(of: .catalog)
        while id < end {
            if try !store.snapshot.location(of: id, in: .catalog).isAbsent { return true }
            id += 1
        }
        return false
    }
}
