internal import FaultlineLog
package import FaultlineModel

/// Writes rows of older layouts anew in the layout in force, a bounded piece at a time: *rewrite*.
///
/// A migration that only adds, renames, widens or drops attributes writes no row. Readers convert as they go, and what was
/// dropped stays in the store until its row is written the next time, values out of the row included: this is the next
/// time.
///
/// It belongs to one thread. Each piece is one transaction, which says how far it got: it may stop anywhere, and goes on
/// there, in a later process too. Several may be at it; what one has done the others find done.
package struct RowRewriting {
    /// What was done.
    package struct Report: Sendable, Equatable {
        /// Rows that were written anew.
        package var rowCount = 0
        /// What could not be: rows that do not verify, pages that do not, rows that would not fit into a record any more.
        package var leftCount = 0

        package init() {}
    }

    private let store: RowStore
    /// Entities of which some rows may be of an older layout.
    private let entities: [EntityStorage]
    package private(set) var report = Report()
    /// The transaction of the last piece; 0 before the first.
    package private(set) var sequence: UInt64 = 0

    /// Bytes of rows that one transaction writes anew, about, and how many rows at most: bounds its memory.
    private static let writtenByteCountMax = 1 << 20
    private static let writtenRowsMax = 8_192
    /// Bytes of records that are looked at in one piece, about.
    private static let readByteCountMax = 16 << 20
    private static let readAheadByteCount = 128 << 10

    /// - Parameters:
    ///   - store: The rows, under the schema in force.
    ///   - isReadable: Whether rows of an entity are read as they are meant to be: defaults that nobody can write leave
    ///     an entity out.
    /// - Throws: `outdated` for the rows of a migration under way: values that are gone there are another state's.
    package init(_ store: RowStore, where isReadable: (Schema.Entity) -> Bool) throws(StoreError) {
        guard !store.isMigrationTarget else {
            throw StoreError(
                .outdated, "The store is being migrated: its objects are written in their new form when that is done.")
        }
        self.store = store
        entities = store.storage.entities.filter { entity in
            store.mayHaveOlderRows(entity) && isReadable(store.storage.schema.entities[entity.ordinal])
        }
    }

    /// Whether all rows were looked at.
    ///
    /// - Throws: `StoreError` if the catalog cannot be read.
    package func isDone() throws(StoreError) -> Bool { try next() == nil }

    private func next() throws(StoreError) -> (entity: EntityStorage, first: RecordID)? {
        guard !entities.isEmpty else { return nil }
        let record = try StoredCatalog.entry(
            RewriteRecord.self, StoredCatalog.RecordNumber.rewrite, in: store.log.snapshot())
        for entity in entities {
            if let first = (record ?? RewriteRecord()).next(of: entity) { return (entity, first) }
        }
        return nil
    }

    /// Does a piece: looks at some mebibytes of rows, and writes a mebibyte of them at most.
    ///
    /// - Parameter isStopped: Asked before each batch of some rows; nothing is written where it says so.
    /// - Returns: Whether there is more to do.
    /// - Throws: `outdated` where the store was migrated, or is being; what the log says.
    package mutating func step(until isStopped: () -> Bool = { false }) throws -> Bool {
        guard let (entity, first) = try next() else { return false }
        var ids: [RecordID] = []
        var byteCounts = (read: 0, written: 0)
        var next: RecordID?
        var leftCount = 0
        var goesOn = true
        try store.log.snapshot().scanPastDamage(
            entity.table, from: first, readAhead: Self.readAheadByteCount, unreadable: { _ in leftCount += 1 }
        ) { records in
            goesOn = !isStopped()
            guard goesOn else { return false }
            for item in records {
                byteCounts.read += RecordHeader.byteCount + item.row.count
                guard item.layout != entity.layout.number else { continue }
                ids.append(item.id)
                byteCounts.written += RecordHeader.byteCount + max(item.row.count, entity.layout.fixedByteCount)
                guard byteCounts.written >= Self.writtenByteCountMax || ids.count >= Self.writtenRowsMax else {
                    continue
                }
                next = item.id + 1
                return false
            }
            guard byteCounts.read >= Self.readByteCountMax, let last = records.last else { return true }
            next = last.id + 1
            return false
        }
        guard goesOn, !isStopped() else { return true }
        try write(ids, entity, next: next)
        report.leftCount += leftCount
        return try !isDone()
    }

    private mutating func write(_ ids: [RecordID], _ entity: EntityStorage, next: RecordID?) throws {
        let store = store
        var done = Report()
        let receipt = try store.log.write(author: nil) { transaction in
            try store.checkInForce(in: transaction)
            // It takes more than it gives back.
            transaction.leaveReserve()
            var writer = RowWriter(store)
            for id in ids {
                do throws(StoreError) {
                    if try writer.rewrite(id: id, entity, in: &transaction) { done.rowCount += 1 }
                } catch {
                    guard error.isOfRow else { throw error }
                    done.leftCount += 1
                }
            }
            var record =
                try StoredCatalog.entry(RewriteRecord.self, StoredCatalog.RecordNumber.rewrite, in: transaction)
                ?? RewriteRecord()
            record.set(next, of: entity)
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.rewrite, in: &transaction)
        }.receipt
        sequence = receipt.sequence
        report.rowCount += done.rowCount
        report.leftCount += done.leftCount
    }
}

extension StoreError {
    /// Whether it is about one row, which stays as it is.
    fileprivate var isOfRow: Bool { code == .malformed || code == .tooLarge || cause?.isUnreadable == true }
}
