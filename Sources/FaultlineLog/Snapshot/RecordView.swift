import FaultlineDisk

/// A verified record, in memory with another owner.
package struct RecordView {
    package let id: RecordID
    package let layout: UInt16
    package let flags: RecordFlags
    /// The mask of changed slots; 0 in the first version of an object.
    package let changed: UInt64
    /// The row, behind the prefixes, decompressed.
    package let row: UnsafeRawBufferPointer
    package let location: Location

    @inline(__always)
    init(
        id: RecordID, layout: UInt16, flags: RecordFlags, changed: UInt64, row: UnsafeRawBufferPointer,
        location: Location
    ) {
        self.id = id
        self.layout = layout
        self.flags = flags
        self.changed = changed
        self.row = row
        self.location = location
    }
}

/// The result of a read into the caller's memory.
package enum RecordRead {
    /// The record, and the bytes of memory that it took.
    case record(RecordView, byteCount: Int)
    /// The memory is too small; nothing was verified.
    case needsCapacity(Int)
}

/// Memory for one record, reused between reads.
package struct RecordBuffer: ~Copyable {
    package var bytes: UnsafeMutableRawBufferPointer

    /// A buffer with room for `byteCapacity` bytes; it grows when a record needs more.
    package init(byteCapacity: Int = 4_096) {
        bytes = BufferMemory.allocateBuffer(byteCount: max(byteCapacity, 64))
    }

    deinit {
        BufferMemory.deallocate(bytes)
    }

    package mutating func grow(to byteCount: Int) {
        guard byteCount > bytes.count else { return }
        BufferMemory.deallocate(bytes)
        bytes = BufferMemory.allocateBuffer(byteCount: byteCount)
    }
}
