/// The objects that a save has written, for notifications.
struct SavedIdentifiers {
    var inserted: Set<PersistentIdentifier> = []
    var updated: Set<PersistentIdentifier> = []
    var deleted: Set<PersistentIdentifier> = []
    /// The number of the transaction; 0 before there is one.
    var sequence: UInt64 = 0
}
