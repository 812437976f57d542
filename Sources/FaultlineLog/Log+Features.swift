extension Log {
    /// Records in IDENTITY that the store has secondary indexes.
    ///
    /// Call it before writing a catalog that names one, so that no version writes to the store that would not keep
    /// them. Durability: IDENTITY is durable when this returns.
    ///
    /// - Throws: `.closed`, `.readOnly`; disk errors.
    package func noteSecondaryIndexes() throws(LogError) {
        let writing = try writable()
        if hasEnded { throw .closed(path) }
        try writing.checkpointer.noteSecondaryIndexes()
    }

    /// Records in IDENTITY that the store has text indexes; to be called like `noteSecondaryIndexes`.
    ///
    /// - Throws: `.closed`, `.readOnly`; disk errors.
    package func noteTextIndexes() throws(LogError) {
        let writing = try writable()
        if hasEnded { throw .closed(path) }
        try writing.checkpointer.noteTextIndexes()
    }

    /// Records in IDENTITY that a table of the store has the rows of several classes; to be called like
    /// `noteSecondaryIndexes`.
    ///
    /// - Throws: `.closed`, `.readOnly`; disk errors.
    package func noteSubclasses() throws(LogError) {
        let writing = try writable()
        if hasEnded { throw .closed(path) }
        try writing.checkpointer.noteSubclasses()
    }

    /// Records in IDENTITY that the store has a history.
    ///
    /// Call it before writing the first history record, so that no version writes to the store that would omit its own
    /// changes. Durability: IDENTITY is durable when this returns.
    ///
    /// - Throws: `.closed`, `.readOnly`; disk errors.
    package func noteHistory() throws(LogError) {
        let writing = try writable()
        if hasEnded { throw .closed(path) }
        try writing.checkpointer.noteHistory()
    }

    /// Whether the catalog names secondary indexes.
    package var hasSecondaryIndexes: Bool { publisher.snapshot.indexes.all.contains(where: \.definition.isSecondary) }

    /// Whether the catalog names text indexes.
    package var hasTextIndexes: Bool { publisher.snapshot.indexes.all.contains(where: \.definition.isText) }
}
