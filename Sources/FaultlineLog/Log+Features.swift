extension Log {
    /// Says that the store has secondary indexes: to be called before a catalog is written that names one, so that no
    /// version writes to the store that would not keep them.
    ///
    /// Durability: that of IDENTITY, when this returns.
    ///
    /// - Throws: `.closed`, `.readOnly`; what the disk says.
    package func noteSecondaryIndexes() throws(LogError) {
        let writing = try writable()
        if hasEnded { throw .closed(path) }
        try writing.checkpointer.noteSecondaryIndexes()
    }

    /// Says that the store has a history: to be called before its first record is written, so that no version writes to
    /// the store that would leave its own changes out.
    ///
    /// Durability: that of IDENTITY, when this returns.
    ///
    /// - Throws: `.closed`, `.readOnly`; what the disk says.
    package func noteHistory() throws(LogError) {
        let writing = try writable()
        if hasEnded { throw .closed(path) }
        try writing.checkpointer.noteHistory()
    }

    /// Whether the catalog names secondary indexes.
    var hasSecondaryIndexes: Bool { publisher.snapshot.indexes.all.contains(where: \.definition.isSecondary) }
}
