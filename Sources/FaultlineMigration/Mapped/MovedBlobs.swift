internal import FaultlineLog
internal import FaultlineStore

/// The large values that new objects take over from old ones instead of copying them.
///
/// Each is moved at most once: the numbers of all moved values are kept in a table of links.
struct MovedBlobs {
    private let side: LinkSide
    /// Values that objects of this batch may take over.
    private var allowed: Set<UInt64> = []
    /// Values that this batch has moved.
    private(set) var moved: [UInt64] = []

    init(_ side: LinkSide) { self.side = side }

    /// Allows a new object of this batch to take over a value.
    mutating func allow(_ blob: UInt64) { allowed.insert(blob) }

    /// Moves a value if that is allowed, and no other object has it.
    ///
    /// - Returns: False if the object needs a copy.
    mutating func move(_ blob: UInt64, _ newest: Snapshot) -> Bool {
        guard allowed.remove(blob) != nil, !contains(blob, newest) else { return false }
        moved.append(blob)
        return true
    }

    /// Whether a value was moved by a saved batch.
    func contains(_ blob: UInt64, _ newest: Snapshot) -> Bool {
        // An unreadable value is not moved: the copy will report the reason.
        (try? newest.location(of: blob, in: side.table).isAbsent) != true
    }

    /// Stores the numbers of the moved values.
    func write(_ writer: inout RowWriter, in transaction: inout Transaction) throws {
        for blob in moved {
            try writer.link(blob, left: blob, right: 0, leftOrder: 0, rightOrder: 0, side, in: &transaction)
        }
    }

    mutating func forgetMoved() { moved.removeAll(keepingCapacity: true) }

    mutating func forgetAllowed() { allowed.removeAll(keepingCapacity: true) }
}
