/// Decides which entries a flush or a merge keeps.
///
/// Entries must come in their order: key, identifier, sequence number descending.
///
/// Readers have sequence limits of `oldestLimit` or more. So of a pair of key and identifier it keeps every entry above
/// that, and the newest one not above it, unless that is a delete and no older entry can exist.
struct VersionFilter {
    /// The smallest sequence number that a snapshot reads at; `UInt64.max` while no snapshot reads below the newest.
    private let oldestLimit: UInt64
    /// Whether the oldest entries of the index take part.
    private let dropsDeletes: Bool
    private let key = KeyCopy()
    private var id: RecordID = 0
    private var sequence: UInt64 = 0
    private var isSettled = false
    private var isFirst = true

    init(oldestLimit: UInt64, dropsDeletes: Bool) {
        self.oldestLimit = oldestLimit
        self.dropsDeletes = dropsDeletes
    }

    /// Whether to keep an entry.
    @inline(__always)
    mutating func keeps(_ head: UnsafePointer<EntryMerge.Head>) -> Bool {
        let entry = head.pointee
        if !isFirst, entry.id == id, key.equals(entry.key, entry.keyByteCount) {
            // A second entry of one transaction: the newer came first.
            if isSettled || entry.sequence == sequence { return false }
        } else {
            isFirst = false
            key.set(entry.key, entry.keyByteCount)
            id = entry.id
            isSettled = false
        }
        sequence = entry.sequence
        if entry.sequence > oldestLimit { return true }
        isSettled = true
        return !(entry.isDelete && dropsDeletes)
    }
}
