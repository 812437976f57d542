extension Checkpointer {
    /// Says in IDENTITY that the store has secondary indexes; durable when this returns.
    func noteSecondaryIndexes() throws(LogError) {
        try whileOpen { () throws(LogError) in try compactor.noteSecondaryIndexes() }
    }

    /// Says in IDENTITY that the store has a history; durable when this returns.
    func noteHistory() throws(LogError) {
        try whileOpen { () throws(LogError) in try compactor.noteHistory() }
    }
}
