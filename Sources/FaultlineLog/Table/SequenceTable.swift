/// A sequence number for each object, in pages like those of the location tables, which can be spilled in the same way.
package struct SequenceTable {
    /// The note of an object.
    package struct Note {
        /// 0 if there is no note; at most 2^62.
        package let sequence: UInt64
        /// A mark with a meaning that the table's user defines.
        package let isMarked: Bool

        package init(_ sequence: UInt64, isMarked: Bool = false) {
            self.sequence = sequence
            self.isMarked = isMarked
        }

        /// Decodes the note in an entry of a page.
        package init(reading entry: Location) {
            sequence = UInt64(entry.segment >> 1) | UInt64(entry.offset) << 31
            isMarked = entry.packed == 1
        }

        /// The note in the form of a location; absent if there is no note.
        fileprivate var entry: Location {
            if sequence == 0 { return .absent }
            return Location(
                segment: UInt32(truncatingIfNeeded: sequence) << 1 | 1,
                offset: UInt32(truncatingIfNeeded: sequence >> 31), packed: isMarked ? 1 : 0)
        }
    }

    private var entries: WorkingTables

    package init(cache: PageCache) {
        entries = WorkingTables(cache: cache)
    }

    /// The note of an object.
    package func note(at id: RecordID, in table: UInt16) throws(LogError) -> Note {
        Note(reading: try entries.location(of: id, in: table))
    }

    /// Replaces the note of an object.
    ///
    /// - Returns: The previous note.
    package mutating func replace(_ id: RecordID, in table: UInt16, with note: Note) throws(LogError) -> Note {
        Note(reading: try entries.replace(id, in: table, with: note.entry))
    }

    /// Stores changed pages, so that their memory can be used again.
    package mutating func spill(in directory: StoreDirectory) throws(LogError) {
        entries.leavePage()
        try PageSpill.spill(entries.set, cache: entries.cache, in: directory, sequence: 0)
    }

    // MARK: Visiting

    /// The tables with notes.
    package var tables: [UInt16] { entries.set.all.map(\.table) }

    /// An identifier above each one with a note in a table.
    package func nextID(in table: UInt16) -> RecordID { entries.nextID(in: table) }

    /// The pages of a table, whose entries `Note(reading:)` decodes; nil if it has no notes.
    package mutating func root(of table: UInt16) -> TableRoot? {
        entries.leavePage()
        return entries.set[table]
    }
}
