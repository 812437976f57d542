import FaultlineCommands

/// Blobs that no row refers to: wasted space, and no damage.
struct OrphanedBlobs: Equatable {
    var count = 0
    /// Bytes that they take on the disk.
    var byteCount: UInt64 = 0
    /// Those in segments that the state before the newest migration holds, and their bytes.
    var heldCount = 0
    var heldByteCount: UInt64 = 0
    /// Whether a migration is under way, or its remains are not deleted yet: then they may be its own.
    var isMigrating = false
    /// Rows and quarantined objects that could not be read: they may refer to some orphans.
    var unreadableCount = 0

    /// For people; nil if there are none.
    var sentence: String? {
        guard count > 0 else { return nil }
        var text = "orphans: \(Quantity.count(count)) blobs of \(Quantity.bytes(Int(clamping: byteCount)))"
        text += " that no row refers to"
        if heldCount > 0 {
            text += "; the state before the newest migration holds \(Quantity.count(heldCount)) of "
            text += Quantity.bytes(Int(clamping: heldByteCount))
        }
        if isMigrating { text += "; a migration that is not finished may need them, or delete them" }
        if unreadableCount > 0 {
            text += "; \(Quantity.count(unreadableCount)) rows cannot be read and may refer to some"
        }
        return text + ". They are no damage."
    }

    /// Adds the figures to a line of JSON.
    func add(to line: inout JSONLine) {
        line.add("orphans", count)
        line.add("orphan_bytes", Int(clamping: byteCount))
        line.add("held_orphans", heldCount)
        line.add("held_orphan_bytes", Int(clamping: heldByteCount))
    }
}
