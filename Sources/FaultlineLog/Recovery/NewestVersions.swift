/// Which version of each object counts where the tables are made from segments that compaction has changed the order of.
///
/// That of the highest sequence number, and the later one of two with the same; deletes count like versions.
struct NewestVersions {
    /// The transaction that each object was last changed by.
    private var sequences: SequenceTable
    /// The newest transaction that dropped a table.
    private var drops: [UInt16: UInt64] = [:]

    init(cache: PageCache) {
        sequences = SequenceTable(cache: cache)
    }

    /// Notes a version, or the end, of an object.
    ///
    /// - Returns: False if it is older than one that was noted before, and does not count.
    mutating func note(_ id: RecordID, in table: UInt16, sequence: UInt64) throws(LogError) -> Bool {
        if let drop = drops[table], sequence < drop { return false }
        guard try sequences.note(at: id, in: table).sequence <= sequence else { return false }
        _ = try sequences.replace(id, in: table, with: SequenceTable.Note(sequence))
        return true
    }

    /// Notes that a table was dropped.
    mutating func noteDrop(of table: UInt16, sequence: UInt64) {
        drops[table] = max(drops[table] ?? 0, sequence)
    }

    /// Whether an object was changed before its table was dropped.
    func isDropped(_ id: RecordID, in table: UInt16) throws(LogError) -> Bool {
        guard let drop = drops[table] else { return false }
        return try sequences.note(at: id, in: table).sequence < drop
    }

    /// Stores changed pages, so that their memory can be used again.
    mutating func spill(in directory: StoreDirectory) throws(LogError) { try sequences.spill(in: directory) }
}
