extension Checkpointer {
    /// Records in IDENTITY that the store has secondary indexes; durable when this returns.
    func noteSecondaryIndexes() throws(LogError) {
        try whileOpen { () throws(LogError) in try compactor.noteSecondaryIndexes() }
    }

    /// Records in IDENTITY that the store has text indexes; durable when this returns.
    func noteTextIndexes() throws(LogError) {
        try whileOpen { () throws(LogError) in try compactor.noteTextIndexes() }
    }

    /// Records in IDENTITY that a table of the store has the rows of several classes; durable when this returns.
    func noteSubclasses() throws(LogError) {
        try whileOpen { () throws(LogError) in try compactor.noteSubclasses() }
    }

    /// Records in IDENTITY that the store has a history; durable when this returns.
    func noteHistory() throws(LogError) {
        try whileOpen { () throws(LogError) in try compactor.noteHistory() }
    }
}
