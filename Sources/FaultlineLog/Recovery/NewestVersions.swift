/// Finds the newest version of each object when the tables are rebuilt from segments whose order compaction has
/// changed.
///
/// It is the one with the highest sequence number, and the later one of two with the same; deletes count like versions.
struct NewestVersions {
    /// The last transaction that changed each object.
    private var sequences: SequenceTable
    /// The newest transaction that dropped a table.
    private var drops: [UInt16: UInt64] = [:]

    init(cache: PageCache) {
        sequences = SequenceTable(cache: cache)
    }

    /// Records a version, or the deletion, of an object.
    ///
    /// - Returns: False if it is older than a recorded one, and does not count.
    mutating func note(_ id: RecordID, in table: UInt16, sequence: UInt64) throws(LogError) -> Bool {
        if let drop = drops[table], sequence < drop { return false }
        guard try sequences.note(at: id, in: table).sequence <= sequence else { return false }
        _ = try sequences.replace(id, in: table, with: SequenceTable.Note(sequence))
        return true
    }

    /// Records that a table was dropped.
    mutating func noteDrop(of table: UInt16, sequence: UInt64) {
        drops[table] = max(drops[table] ?? 0, sequence)
    }

    /// Whether an object was last changed before its table was dropped.
    func isDropped(_ id: RecordID, in table: UInt16) throws(LogError) -> Bool {
        guard let drop = drops[table] else { return false }
        return try sequences.note(at: id, in: table).sequence < drop
    }

    /// Stores changed pages, so that their memory can be used again.
    mutating func spill(in directory: StoreDirectory) throws(LogError) { try sequences.spill(in: directory) }
}
