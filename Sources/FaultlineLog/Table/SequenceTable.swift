/// A sequence number for each object, kept in pages like those of the location tables, so that it can leave memory as
/// these do.
struct SequenceTable {
    /// What is noted at an object.
    struct Note {
        /// 0 where nothing was noted; at most 2^62.
        let sequence: UInt64
        /// What the user of the table says beside it.
        let isMarked: Bool

        init(_ sequence: UInt64, isMarked: Bool = false) {
            self.sequence = sequence
            self.isMarked = isMarked
        }

        /// Takes the note from an entry of a page.
        init(reading entry: Location) {
            sequence = UInt64(entry.segment >> 1) | UInt64(entry.offset) << 31
            isMarked = entry.packed == 1
        }

        /// A location in shape only, which is not absent; that of nothing is.
        fileprivate var entry: Location {
            if sequence == 0 { return .absent }
            return Location(
                segment: UInt32(truncatingIfNeeded: sequence) << 1 | 1,
                offset: UInt32(truncatingIfNeeded: sequence >> 31), packed: isMarked ? 1 : 0)
        }
    }

    private var entries: WorkingTables

    init(cache: PageCache) {
        entries = WorkingTables(cache: cache)
    }

    /// What is noted at an object.
    func note(at id: RecordID, in table: UInt16) throws(LogError) -> Note {
        Note(reading: try entries.location(of: id, in: table))
    }

    /// Notes something at an object.
    ///
    /// - Returns: What was noted before.
    mutating func replace(_ id: RecordID, in table: UInt16, with note: Note) throws(LogError) -> Note {
        Note(reading: try entries.replace(id, in: table, with: note.entry))
    }

    /// Stores changed pages, so that their memory can be used again.
    mutating func spill(in directory: StoreDirectory) throws(LogError) {
        entries.leavePage()
        try PageSpill.spill(entries.set, cache: entries.cache, in: directory, sequence: 0)
    }

    // MARK: Walking over it

    /// The tables that were noted in.
    var tables: [UInt16] { entries.set.all.map(\.table) }

    /// An identifier above each that was noted at in a table.
    func nextID(in table: UInt16) -> RecordID { entries.nextID(in: table) }

    /// The pages of a table, whose entries are read by `Note(reading:)`; nil if it was not noted in.
    mutating func root(of table: UInt16) -> TableRoot? {
        entries.leavePage()
        return entries.set[table]
    }
}
