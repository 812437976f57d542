extension ContextCore {
    /// Whether a save would write anything.
    var hasChanges: Bool {
        settleMembers()
        return !pending.inserted.isEmpty || !pending.changed.isEmpty || !pending.deleted.isEmpty
            || !pending.relationships.isEmpty
            || pending.doomedNumbers != nil
    }
}
