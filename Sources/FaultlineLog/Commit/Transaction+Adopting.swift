extension Transaction {
    /// Writes an object of another store, under its identifier there.
    ///
    /// Its row is unchanged. The mask of changed slots, which belongs to the other store's history, is removed.
    package mutating func adopt(_ view: RecordView, in table: TableID) throws(LogError) {
        let row = view.row
        try put(
            view.id, in: table, layout: view.layout, changed: nil, flags: view.flags.intersection(.hasExtension),
            byteCount: row.count
        ) { $0.copyBytes(from: row) }
    }

    /// Writes a copy of another store's blob, without decompressing it, under its identifier there.
    ///
    /// - Returns: The error if the blob cannot be read; no placement is written then, and the copied bytes are dead.
    /// - Throws: Errors of this store's disk; the transaction cannot be completed then.
    package mutating func adoptBlob(
        _ id: RecordID, _ reader: inout BlobReader, owner: BlobOwner
    ) throws(LogError) -> LogError? {
        let segment = try sequencer.openBlobSegment()
        var writer = BlobWriter(segment, isCompressing: false)
        do throws(LogError) {
            try writer.append(all: &reader)
        } catch {
            segment.skipGivenUpBytes()
            if error.path == reader.path { return error }
            throw sequencer.fail(error)
        }
        try sequencer.place(writer, id: id, owner: owner)
        return nil
    }

    /// Places a large value that was written beside transactions, without copying it.
    ///
    /// It is copied if another transaction has placed it before, even one that was rolled back; if it belongs to another
    /// log; or if the file that it lies in has failed.
    ///
    /// - Throws: Disk errors; the transaction cannot be completed then.
    package mutating func putBlob(_ upload: FinishedUpload, owner: BlobOwner) throws(LogError) -> RecordID {
        try sequencer.putBlob(upload, owner: owner)
    }

    /// Writes a copy of a blob of this store or another one, without decompressing it.
    ///
    /// - Throws: `.damaged` if it does not verify; disk errors. The transaction cannot be completed then.
    package mutating func copyBlob(_ held: HeldBlob, owner: BlobOwner) throws(LogError) -> RecordID {
        try sequencer.copyBlob(held, owner: owner)
    }

    /// Ensures that new identifiers of a table are `next` or above.
    package mutating func raiseNextID(in table: TableID, to next: RecordID) throws(LogError) {
        let now = nextID(in: table)
        if next > now { _ = try allocateIDs(Int(next - now), in: table) }
    }
}
