/// Bytes that one transaction makes dead, by segment.
///
/// A small table without chains: a segment whose slot another has taken goes to a dictionary, so that an update costs
/// some instructions whatever the store's size. A class, so that counting is a write through a pointer that never changes,
/// and not a checked access to a property of whoever holds it.
///
/// Concurrency: owned by the writer's turn.
final class DeadBytes {
    private static let slotCount: UInt32 = 64

    private let slots: UnsafeMutablePointer<(segment: UInt32, byteCount: UInt64)>
    /// A bit for each slot in use.
    private var used: UInt64 = 0
    private var others: [UInt32: UInt64] = [:]

    init() {
        slots = .allocate(capacity: Int(Self.slotCount))
        slots.initialize(repeating: (0, 0), count: Int(Self.slotCount))
    }

    deinit {
        slots.deallocate()
    }

    /// Counts a record that another version took the place of, or that was deleted.
    @inline(__always)
    func add(_ location: Location) {
        add(UInt64(location.packed & Location.sizeUnknown) << 3, of: location.segment)
    }

    /// Counts bytes of a segment.
    @inline(__always)
    func add(_ byteCount: UInt64, of segment: UInt32) {
        let number = segment & (Self.slotCount - 1)
        let slot = slots + Int(number)
        if slot.pointee.segment != segment { moveOut(number, for: segment) }
        slot.pointee.byteCount &+= byteCount
    }

    @inline(never)
    private func moveOut(_ number: UInt32, for segment: UInt32) {
        let slot = slots + Int(number)
        if slot.pointee.byteCount > 0 { others[slot.pointee.segment, default: 0] += slot.pointee.byteCount }
        slot.pointee = (segment, 0)
        used |= 1 << UInt64(number)
    }

    /// Adds what was counted to `total`, and forgets it.
    func merge(into total: inout SegmentSpace) {
        for (segment, byteCount) in others { total.addDead(byteCount, of: segment) }
        var rest = used
        while rest != 0 {
            let slot = slots + rest.trailingZeroBitCount
            if slot.pointee.byteCount > 0 { total.addDead(slot.pointee.byteCount, of: slot.pointee.segment) }
            rest &= rest - 1
        }
        removeAll()
    }

    /// Forgets what was counted.
    func removeAll() {
        if !others.isEmpty { others.removeAll() }
        while used != 0 {
            slots[used.trailingZeroBitCount] = (0, 0)
            used &= used - 1
        }
    }
}
