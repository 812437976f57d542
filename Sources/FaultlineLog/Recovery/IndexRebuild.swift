/// Rebuilds indexes whose runs do not verify, or are not used, from the present rows of the tables.
enum IndexRebuild {
    /// Replaces the entries of the indexes by those of the tables' rows.
    ///
    /// - Complexity: Reads every record of the tables that have one of these indexes.
    static func run(_ wanted: Set<IndexID>, _ replay: inout Replay) throws(LogError) {
        guard !wanted.isEmpty else { return }
        replay.memtables.empty(wanted)
        let snapshot = Snapshot(
            sequence: replay.sequence, tables: replay.tables.capture(), indexes: .empty, files: replay.files)
        var buffer = RecordBuffer()
        for root in snapshot.tables.all where replay.memtables.hasAny(of: wanted, root.table) {
            let table = TableID(rawValue: root.table)
            var count = 0
            try snapshot.forEachLocation(of: table) { (id, _) throws(LogError) in
                guard let view = try snapshot.read(id, in: table, into: &buffer) else { return }
                replay.memtables.append(table, view, only: wanted, sequence: replay.sequence)
                count += 1
                if count % 1_024 == 0 { try replay.spillIfNeeded() }
            }
        }
    }
}
