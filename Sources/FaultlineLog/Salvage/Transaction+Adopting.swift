extension Transaction {
    /// Writes an object as another store has it, under the identifier that it has there.
    ///
    /// Its row stays as it is; what belongs to the place in that store's history goes: the mask of changed slots.
    mutating func adopt(_ view: RecordView, in table: TableID) throws(LogError) {
        let row = view.row
        try put(
            view.id, in: table, layout: view.layout, changed: nil, flags: view.flags.intersection(.hasExtension),
            byteCount: row.count
        ) { $0.copyBytes(from: row) }
    }

    /// Writes a copy of another store's blob, without decompressing it, under the identifier that it has there.
    ///
    /// - Returns: Why the blob cannot be read; nothing of it is placed then, and what was copied is dead.
    /// - Throws: What this store's disk says; the transaction cannot be completed then.
    mutating func adoptBlob(
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

    /// Gives out no identifier of a table below `next` any more.
    mutating func raiseNextID(in table: TableID, to next: RecordID) throws(LogError) {
        let now = nextID(in: table)
        if next > now { _ = try allocateIDs(Int(next - now), in: table) }
    }
}
