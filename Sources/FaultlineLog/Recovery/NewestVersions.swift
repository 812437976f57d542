import FaultlineDisk

/// Which version of each object counts where the tables are made from segments that compaction has changed the order of.
///
/// That of the highest sequence number, and the later one of two with the same; deletes count like versions.
///
/// The numbers are kept in pages like those of the location tables, so that they can leave memory as these do.
struct NewestVersions {
    /// At the place of an object the number of the transaction that it was last changed by.
    private var sequences: WorkingTables
    /// The newest transaction that dropped a table.
    private var drops: [UInt16: UInt64] = [:]

    init(cache: PageCache) {
        sequences = WorkingTables(cache: cache)
    }

    /// Notes a version, or the end, of an object.
    ///
    /// - Returns: False if it is older than one that was noted before, and does not count.
    mutating func note(_ id: RecordID, in table: UInt16, sequence: UInt64) throws(LogError) -> Bool {
        if let drop = drops[table], sequence < drop { return false }
        guard Self.sequence(try sequences.location(of: id, in: table)) <= sequence else { return false }
        _ = try sequences.replace(id, in: table, with: Self.entry(sequence))
        return true
    }

    /// Notes that a table was dropped.
    mutating func noteDrop(of table: UInt16, sequence: UInt64) {
        drops[table] = max(drops[table] ?? 0, sequence)
    }

    /// Whether an object was changed before its table was dropped.
    func isDropped(_ id: RecordID, in table: UInt16) throws(LogError) -> Bool {
        guard let drop = drops[table] else { return false }
        return Self.sequence(try sequences.location(of: id, in: table)) < drop
    }

    /// Stores changed pages, so that their memory can be used again.
    mutating func spill(in directory: StoreDirectory, cache: PageCache) throws(LogError) {
        sequences.leavePage()
        try PageSpill.spill(sequences.set, cache: cache, in: directory, sequence: 0)
    }

    private static func entry(_ sequence: UInt64) -> Location {
        Location(
            segment: 1, offset: UInt32(truncatingIfNeeded: sequence),
            packed: UInt32(truncatingIfNeeded: sequence >> 32))
    }

    /// 0 where nothing was noted.
    private static func sequence(_ entry: Location) -> UInt64 { UInt64(entry.offset) | UInt64(entry.packed) << 32 }
}
