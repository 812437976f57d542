/// Bytes that one transaction makes dead, by segment.
///
/// A small table without chains: a segment whose slot is taken goes to a dictionary, so the cost of an update does not
/// depend on the store's size. A class, so that counting writes through a constant pointer, without a checked access to
/// its owner's property.
///
/// Concurrency: guarded by the writer lock.
final class DeadBytes {
    private static let slotCount: UInt32 = 64

    private let slots: UnsafeMutablePointer<(segment: UInt32, byteCount: UInt64)>
    /// A bit for each slot in use.
    @exclusivity(unchecked) private var used: UInt64 = 0
    @exclusivity(unchecked) private var others: [UInt32: UInt64] = [:]

    init() {
        slots = .allocate(capacity: Int(Self.slotCount))
        slots.initialize(repeating: (0, 0), count: Int(Self.slotCount))
    }

    deinit {
        slots.deallocate()
    }

    /// Counts a record that was replaced by another version or deleted.
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

    /// Adds the counts to `total`, and clears them.
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

    /// Clears the counts.
    func removeAll() {
        if !others.isEmpty { others.removeAll() }
        while used != 0 {
            slots[used.trailingZeroBitCount] = (0, 0)
            used &= used - 1
        }
    }
}
