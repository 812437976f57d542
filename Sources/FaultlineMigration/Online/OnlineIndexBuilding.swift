internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

/// Enters the rows of an entity into its new indexes while others save: in small transactions, so that a save waits for
/// few rows.
///
/// A row that was saved since it was read is entered as it is by then. `IndexMirror` has entered it already, or enters
/// it with its next version.
struct OnlineIndexBuilding {
    let log: Log
    let built: BuiltIndexes
    let mirror: IndexMirror
    let course: MigrationCourse

    /// The largest number of rows, and about the bytes of their entries, that one transaction enters.
    private static let rowsMax = 512
    private static let byteCountMax = 256 << 10
    private static let readAheadByteCount = 128 << 10

    private struct Row {
        let id: RecordID
        let location: Location
        var entries: [IndexMirror.Entry] = []
        /// A value that cannot be unique.
        var refusal: StoreError?
    }

    /// - Throws: `duplicate` if two objects have the same values under a new unique rule; `tooLarge`; the log's error if
    ///   it cannot be read or written.
    func run() throws {
        let table = built.entity.table
        let rowsMax = course.options.onlineRowsMax ?? Self.rowsMax
        var rows: [Row] = []
        var byteCount = 0
        try log.snapshot().scan(
            table, from: 1, through: Limits.recordIDMax, readAhead: Self.readAheadByteCount
        ) { records in
            for item in records {
                var row = Row(id: item.id, location: item.location)
                // The row may have been saved again, or deleted, since: so it is refused only when it is entered.
                try built.forEachKey(
                    of: built.store.view(item, of: built.entity), item.id, refuse: { row.refusal = row.refusal ?? $0 }
                ) {
                    row.entries.append(IndexMirror.Entry($0, $1))
                    byteCount += $1.count
                }
                rows.append(row)
                if rows.count >= rowsMax || byteCount >= Self.byteCountMax {
                    try enter(rows)
                    rows.removeAll(keepingCapacity: true)
                    byteCount = 0
                }
                try course.advance()
            }
            return true
        }
        if !rows.isEmpty { try enter(rows) }
    }

    private func enter(_ rows: [Row]) throws {
        let table = built.entity.table
        _ = try log.write(author: nil) { transaction in
            // A transaction needs a record to be one: the smallest one that changes nothing.
            try StoredCatalog.register([built.entity.layout], in: &transaction)
            for row in rows {
                let now = try transaction.location(of: row.id, in: table)
                if now.isAbsent { continue }
                guard now == row.location else {
                    try mirror.enter(row.id, in: table, &transaction)
                    continue
                }
                if let refusal = row.refusal { throw refusal }
                for entry in row.entries {
                    if let holder = try IndexMirror.enter(entry, row.id, &transaction) {
                        throw built.store.duplicate(holder, row.id, built.entity, entry.index)
                    }
                }
            }
            try mirror.settleIfMany(in: &transaction)
        }
    }
}

extension IndexMirror {
    /// Adds the indexes that a step builds.
    ///
    /// - Parameters:
    ///   - indexes: The indexes.
    ///   - target: The state that the step makes.
    /// - Throws: `StoreError` if the state does not fit together.
    func add(_ indexes: [EntityMapPlan.IndexToBuild], of target: StoredCatalog) throws {
        guard !indexes.isEmpty else { return }
        let store = try RowStore(log: log, catalog: target)
        for name in Set(indexes.map(\.entity)).sorted() {
            guard let entity = store.storage.entity(named: name) else { continue }
            add(BuiltIndexes(store, entity, Set(indexes.filter { $0.entity == name }.map(\.index))))
        }
    }
}
