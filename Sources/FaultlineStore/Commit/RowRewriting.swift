internal import FaultlineLog
package import FaultlineModel

/// Rewrites rows of older layouts in the layout in force, a bounded piece at a time: *rewrite*.
///
/// A migration that only adds, renames, widens or drops attributes writes no row. Readers convert old rows, and dropped
/// values stay in the store until their row is written the next time, including values outside of the row. This
/// rewriting is that next time.
///
/// It belongs to one thread. Each piece is one transaction, which records its progress: it may stop anywhere, and
/// resumes there, in a later process too. Several may run at once; each finds the work of the others done.
package struct RowRewriting {
    /// The work done.
    package struct Report: Sendable, Equatable {
        /// Rows that were rewritten.
        package var rowCount = 0
        /// Rows that could not be rewritten: damaged rows and pages, and rows that would no longer fit into a record.
        package var leftCount = 0

        package init() {}
    }

    private let store: RowStore
    /// Entities of which some rows may be of an older layout.
    private let entities: [EntityStorage]
    package private(set) var report = Report()
    /// The transaction of the last piece; 0 before the first.
    package private(set) var sequence: UInt64 = 0

    /// Bytes of rows that one transaction rewrites, about, and the largest number of rows: bounds its memory.
    private static let writtenByteCountMax = 1 << 20
    private static let writtenRowsMax = 8_192
    /// Bytes of records that are examined in one piece, about.
    private static let readByteCountMax = 16 << 20
    private static let readAheadByteCount = 128 << 10

    /// - Parameters:
    ///   - store: The rows, under the schema in force.
    ///   - isReadable: Whether rows of an entity can be converted; an entity with a default that cannot be written is
    ///     left out.
    /// - Throws: `outdated` for the rows of a running migration: values that are removed there belong to another state.
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

    /// Whether all rows were examined.
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

    /// Does a piece: examines some mebibytes of rows, and writes a mebibyte of them at most.
    ///
    /// - Parameter isStopped: Checked before each batch of rows; if it returns true, nothing is written.
    /// - Returns: Whether there is more to do.
    /// - Throws: `outdated` if the store was migrated, or is being migrated; errors of the log.
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
            // It writes more than it frees.
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
    /// Whether the error concerns one row only, which then stays as it is.
    fileprivate var isOfRow: Bool { code == .malformed || code == .tooLarge || cause?.isUnreadable == true }
}
