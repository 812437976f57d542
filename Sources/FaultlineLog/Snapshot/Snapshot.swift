/// An immutable view of every table and index, as one transaction left them.
///
/// Any number of threads may read it, without locks; it never waits for a writer. Its files are not removed while it
/// exists, and memory of older versions is not freed: hold it no longer than needed.
// Safe because nothing in it changes after `init`.
package final class Snapshot: @unchecked Sendable {
    /// The newest transaction that the snapshot sees.
    package let sequence: UInt64
    package let tables: TableSet
    package let indexes: IndexSet
    package let files: FileTable

    init(sequence: UInt64, tables: TableSet, indexes: IndexSet, files: FileTable) {
        self.sequence = sequence
        self.tables = tables
        self.indexes = indexes
        self.files = files
    }

    // MARK: Tables

    /// Objects in a table.
    ///
    /// - Complexity: O(1).
    package func recordCount(of table: TableID) -> Int { tables[table.rawValue]?.recordCount ?? 0 }

    /// Whether there is an index; a dropped index has no entries, so its answers prove nothing.
    package func has(_ index: IndexDefinition) -> Bool { indexes[index.id] != nil }

    /// An identifier larger than each identifier ever allocated in the table.
    package func nextID(of table: TableID) -> RecordID { tables[table.rawValue]?.nextID ?? 1 }

    /// The location of an object's record.
    ///
    /// - Complexity: One read of 4 KiB if the table page is not in memory, else none.
    package func location(of id: RecordID, in table: TableID) throws(LogError) -> Location {
        guard let root = tables[table.rawValue] else { return .absent }
        return try root.location(of: id)
    }

    /// Bytes of all records of a table, by its pages; without those whose size only their own headers have.
    ///
    /// - Throws: `LogError` if a page cannot be read or does not verify.
    /// - Complexity: Reads every page of the table, and none of its records.
    package func recordByteCount(of table: TableID) throws -> Int {
        var sum = 0
        try forEachPage(of: table, from: 1) { _, entries in
            for entry in 0..<TablePage.entryCount {
                let location = Location(reading: entries + entry * Location.byteCount)
                if !location.isAbsent { sum += location.byteCount ?? 0 }
            }
            return true
        }
        return sum
    }

    /// Calls `body` with the pages of a table in ascending order, from the one that holds `first`.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - first: An identifier; the page that holds it comes whole. There is no page for one above
    ///     `Limits.recordIDMax`.
    ///   - body: Gets the first identifier of the page and its 336 locations of 12 bytes, valid during the call;
    ///     returns false to stop.
    /// - Throws: `LogError` if a page cannot be read or does not verify; the error of `body`.
    package func forEachPage(
        of table: TableID, from first: RecordID,
        _ body: (_ firstID: RecordID, _ entries: UnsafeRawPointer) throws -> Bool
    ) throws {
        guard first <= Limits.recordIDMax, let root = tables[table.rawValue] else { return }
        let copy = UnsafeMutableRawPointer.allocate(byteCount: TablePage.byteCount, alignment: 64)
        defer { copy.deallocate() }
        var page = first > 0 ? TablePage.place(of: first).page : 0
        while page < root.pageCount {
            if let handle = root.handle(ofPage: page) {
                try root.cache.copy(handle, to: copy)
                let firstID = UInt64(page) * UInt64(TablePage.entryCount) + 1
                guard try body(firstID, UnsafeRawPointer(copy) + TablePage.headerByteCount) else { return }
            }
            page += 1
        }
    }

    // MARK: Records

    /// Reads one record with one read, and verifies it.
    ///
    /// - Returns: The record, valid until the buffer is used again, or nil if the object does not exist.
    /// - Throws: `.damaged` if the record does not verify.
    package func read(_ id: RecordID, in table: TableID, into buffer: inout RecordBuffer) throws(LogError)
        -> RecordView?
    {
        let location = try location(of: id, in: table)
        guard !location.isAbsent else { return nil }
        return try read(id, in: table, at: location, into: &buffer)
    }

    /// Reads the record at `location` with one read, and verifies it.
    ///
    /// - Returns: The record, valid until the buffer is used again.
    /// - Throws: `.damaged` if the record does not verify or is another object's.
    func read(
        _ id: RecordID, in table: TableID, at location: Location, into buffer: inout RecordBuffer
    ) throws(LogError) -> RecordView {
        while true {
            switch try read(id, in: table, at: location, into: buffer.bytes) {
            case .record(let view, _): return view
            case .needsCapacity(let byteCount): buffer.grow(to: byteCount)
            }
        }
    }

    /// Reads the record at `location` straight into memory that the caller owns.
    ///
    /// - Returns: The record and the bytes used, or the capacity needed.
    /// - Throws: `.damaged` if the record does not verify or is another object's.
    package func read(
        _ id: RecordID, in table: TableID, at location: Location, into target: UnsafeMutableRawBufferPointer
    ) throws(LogError) -> RecordRead {
        guard let file = files.find(location.segment) else {
            throw files.missing("Object \(id) of table \(table.rawValue)", location)
        }
        return try RecordFile.read(id, in: table, at: location, of: file.takeUnretainedValue(), into: target)
    }

    /// The error for damage in a record whose checksum is right, with its file and the record's offset.
    package func damaged(_ what: String, at location: Location) -> LogError {
        guard let file = files.find(location.segment) else { return .damaged(what, "segment \(location.segment)") }
        return .damaged(what, file.takeUnretainedValue().path, location.byteOffset)
    }

    /// The file that a location names.
    func file(of location: Location) throws(LogError) -> ManagedFile {
        guard let file = files.find(location.segment) else {
            throw files.missing("A record", location)
        }
        return file.takeUnretainedValue()
    }

    // MARK: Indexes

    /// The object that has a key of a unique index.
    package func firstID(in index: IndexDefinition, key: UnsafeRawBufferPointer) throws(LogError) -> RecordID? {
        guard let state = indexes.find(index.id) else { return nil }
        do throws(LogError) { return try state.firstID(key: key, at: sequence) } catch {
            throw state.pointee.noting(error)
        }
    }

    /// Calls `body` with each entry whose key begins with `prefix`, in ascending order; it returns false to stop.
    package func forEachEntry(
        in index: IndexDefinition, prefix: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ id: RecordID) throws -> Bool
    ) throws {
        try indexes.forEachEntry(in: index, prefix: prefix, at: sequence, body)
    }
}
