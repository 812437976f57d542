import FaultlineDisk

/// A transaction that is being written: its records become visible and durable together.
///
/// A store has at most one at a time. Its reads see the newest sequenced state and its own records.
package struct Transaction: ~Copyable {
    let sequencer: Sequencer

    /// The number that the transaction gets if it commits; if it does not, the next transaction gets it.
    package var sequence: UInt64 { sequencer.sequence + 1 }

    /// Nanoseconds since 1970, never below those of an earlier transaction; the transaction's own record may get a
    /// slightly later time.
    package var wallNanoseconds: Int64 { max(sequencer.clock.wallNanoseconds(), sequencer.wallNanoseconds) }

    init(_ sequencer: Sequencer) {
        self.sequencer = sequencer
    }

    // MARK: Reading

    /// The location of an object's record, written or pending.
    package func location(of id: RecordID, in table: TableID) throws(LogError) -> Location {
        // From the set alone: a call of the working tables would count a reference for each of their parts.
        if let resident = sequencer.tables.set.residentLocation(of: id, in: table) { return resident }
        return try sequencer.tables.location(of: id, in: table.rawValue)
    }

    /// The location of an object that `put` is called for next: finds the table's page once for both.
    package func locationToReplace(of id: RecordID, in table: TableID) throws(LogError) -> Location {
        try sequencer.tables.locationToReplace(of: id, in: table.rawValue)
    }

    /// An identifier larger than each identifier ever allocated in the table.
    package func nextID(in table: TableID) -> RecordID { sequencer.tables.nextID(in: table.rawValue) }

    /// Objects in a table.
    package func recordCount(of table: TableID) -> Int { sequencer.tables.set[table.rawValue]?.recordCount ?? 0 }

    /// Reads one record as this transaction sees it, its own writes included.
    ///
    /// - Parameters:
    ///   - id: The object.
    ///   - table: Its table.
    ///   - body: Gets the record, valid during the call.
    /// - Returns: The result of `body`, or nil if the object does not exist.
    /// - Throws: `LogError` if the record or its page cannot be read or does not verify; the error of `body`.
    package func record<R>(_ id: RecordID, in table: TableID, _ body: (RecordView) throws -> R) throws -> R? {
        let location = try location(of: id, in: table)
        guard !location.isAbsent else { return nil }
        let none = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        if let bytes = sequencer.pendingRecord(at: location) {
            let header = RecordHeader(reading: bytes)
            if !header.flags.contains(.compressed) {
                let (view, _) = try RecordDecoder.view(
                    bytes, id: id, table: table.rawValue, location: location, scratch: none)
                return try body(view)
            }
        }
        let snapshot = sequencer.publisher.snapshot
        var target = RecordBuffer(byteCapacity: (location.byteCount ?? 4_096) + 64)
        while true {
            switch try snapshot.read(id, in: table, at: location, into: target.bytes) {
            case .record(let view, _): return try body(view)
            case .needsCapacity(let byteCount): target.grow(to: byteCount)
            }
        }
    }

    // MARK: Writing

    /// Allocates identifiers that were never allocated before.
    ///
    /// - Returns: The first of `count` consecutive ones.
    package mutating func allocateIDs(_ count: Int, in table: TableID) throws(LogError) -> RecordID {
        precondition(count >= 0, "A number of identifiers is not negative.")
        let next = sequencer.tables.nextID(in: table.rawValue)
        guard UInt64(count) <= Limits.recordIDMax - next else {
            throw LogError.tooLarge("Table \(table.rawValue) has no identifiers left.")
        }
        return sequencer.tables.allocate(count, in: table.rawValue)
    }

    /// Allocates all identifiers up to one, if it was never allocated.
    package mutating func allocateIDs(through last: RecordID, in table: TableID) throws(LogError) {
        let next = sequencer.tables.nextID(in: table.rawValue)
        guard last >= next, let count = Int(exactly: last - next) else { return }
        _ = try allocateIDs(count + 1, in: table)
    }

    /// Writes one version of an object.
    ///
    /// - Parameters:
    ///   - id: The object, at least 1: one that was allocated in the table.
    ///   - table: Its table.
    ///   - layout: Number of the layout that the row is written in.
    ///   - changed: The mask of changed slots, nil for the first version.
    ///   - flags: `.noIndexChange`, `.compressed` and `.hasExtension` count; the others are ignored.
    ///   - byteCount: Size of the row.
    ///   - fill: Gets exactly `byteCount` zeroed bytes in the frame and encodes the row there.
    /// - Throws: `.tooLarge`; disk errors of reading a page or writing a partial frame. The transaction cannot be
    ///   completed then.
    @inline(__always)
    package mutating func put(
        _ id: RecordID, in table: TableID, layout: UInt16, changed: UInt64?, flags: RecordFlags, byteCount: Int,
        fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(LogError) {
        precondition(id > 0 && id <= Limits.recordIDMax, "An identifier is at least 1 and at most 336 x (2^32 - 1).")
        precondition(byteCount >= 0, "A row's size is not negative.")
        try sequencer.put(
            id, in: table, layout: layout, changed: changed,
            flags: flags.intersection([.noIndexChange, .compressed, .hasExtension]),
            byteCount: byteCount, fill: fill)
    }

    /// Deletes an object.
    ///
    /// - Throws: `.missing` if it does not exist.
    package mutating func delete(_ id: RecordID, in table: TableID) throws(LogError) {
        try sequencer.delete(id, in: table)
    }

    /// Deletes all objects of a table, in one record.
    ///
    /// The caller must delete their blobs and remove their index entries. Removed entries come back when the log is
    /// replayed, so call `Log.dropIndex` afterwards, and again after each opening.
    package mutating func dropTable(_ table: TableID) throws(LogError) {
        try sequencer.dropTable(table)
    }

    /// Abandons the transaction: nothing of it is stored, even if the body does more, and `write` throws `.abandoned`.
    package mutating func abandon() { sequencer.abandon() }

    // MARK: Blobs

    /// Writes a blob to the blob segment at once, and places it with this transaction.
    package mutating func putBlob(_ bytes: UnsafeRawBufferPointer, owner: BlobOwner) throws(LogError) -> RecordID {
        try sequencer.putBlob(bytes, owner: owner)
    }

    /// Writes a blob piece by piece.
    ///
    /// - Parameters:
    ///   - byteCount: Bytes that will come, or nil if that is not known.
    ///   - owner: The object and slot that the blob belongs to.
    ///   - next: Fills memory, at most all of it, and returns how much; 0 at the end.
    /// - Returns: The blob's identifier, to be kept in the owner's row.
    /// - Throws: `.tooLarge` beyond a blob's largest size, or if more bytes came than `byteCount`; disk errors; the
    ///   error of `next`.
    package mutating func putBlob(
        byteCount: UInt64?, owner: BlobOwner, _ next: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws -> RecordID {
        try sequencer.putBlob(byteCount: byteCount, owner: owner, next)
    }

    /// Writes a copy of a blob, without decompressing it.
    package mutating func copyBlob(_ id: RecordID, owner: BlobOwner) throws(LogError) -> RecordID {
        try sequencer.copyBlob(id, owner: owner)
    }

    /// Deletes a blob.
    package mutating func deleteBlob(_ id: RecordID) throws(LogError) {
        try sequencer.delete(id, in: .blobs)
    }

    /// Leaves the store's reserve on a full disk to other transactions: for one that deletes, but writes more than that
    /// frees.
    package mutating func leaveReserve() { sequencer.current.leavesReserve = true }

    // MARK: Indexes

    /// Adds an entry with a key for an object.
    ///
    /// - Throws: `.tooLarge` if the key has more than `IndexDefinition.keyByteCountMax` bytes. The transaction is
    ///   unchanged, and can continue.
    package mutating func insertEntry(_ index: IndexDefinition, key: UnsafeRawBufferPointer, id: RecordID)
        throws(LogError)
    {
        try sequencer.stageEntry(index, key: key, id: id, isDelete: false)
    }

    /// Removes an entry with a key of an object.
    ///
    /// - Throws: As `insertEntry`.
    package mutating func removeEntry(_ index: IndexDefinition, key: UnsafeRawBufferPointer, id: RecordID)
        throws(LogError)
    {
        try sequencer.stageEntry(index, key: key, id: id, isDelete: true)
    }

    /// The object that has a key of a unique index.
    package func firstID(in index: IndexDefinition, key: UnsafeRawBufferPointer) throws(LogError) -> RecordID? {
        precondition(index.isUnique, "A transaction looks up keys of unique indexes only.")
        return try sequencer.firstID(in: index, key: key)
    }

    /// Calls `body` with each entry whose key begins with `prefix`, in ascending order; it returns false to stop.
    ///
    /// Visits the entries that earlier transactions left, whether published or only queued. Entries of this transaction
    /// are not among them.
    ///
    /// - Parameters:
    ///   - index: Any index.
    ///   - prefix: The first bytes of the keys wanted.
    ///   - body: Gets a key, valid during the call, and its object. It must not write.
    /// - Throws: `.damaged` if a run does not verify; disk errors; the error of `body`.
    package func forEachEntry(
        in index: IndexDefinition, prefix: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ id: RecordID) throws -> Bool
    ) throws {
        try sequencer.forEachEntry(in: index, prefix: prefix, body)
    }

    /// The same for entries whose keys are not below `first`: for walks that resume.
    ///
    /// - Parameters:
    ///   - index: Any index.
    ///   - prefix: The first bytes of the keys wanted.
    ///   - first: A key that begins with the prefix.
    ///   - body: As above.
    /// - Throws: As above.
    package func forEachEntry(
        in index: IndexDefinition, prefix: UnsafeRawBufferPointer, from first: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ id: RecordID) throws -> Bool
    ) throws {
        try sequencer.forEachEntry(in: index, prefix: prefix, from: first, body)
    }
}

/// The result of a commit.
package struct CommitReceipt: Sendable {
    package let sequence: UInt64
    package let transaction: TransactionID
    /// Nanoseconds since 1970; never below that of an earlier transaction.
    package let wallNanoseconds: Int64
    /// A state that holds the transaction.
    package let snapshot: Snapshot
}
