extension ContextCore {
    /// Whether a save would write anything.
    var hasChanges: Bool {
        settleMembers()
        return pending.hasInserts || !pending.changed.isEmpty || !pending.deleted.isEmpty
            || !pending.relationships.isEmpty
            || pending.doomedNumbers != nil
    }
}
