import FaultlineDisk

/// Memory in which frames are encoded, one after the other, and from which they are written.
///
/// Concurrency: `used` is guarded by the writer lock, `queuedFrameCount` by the lock of the commit queue. The bytes of
/// a frame belong to the holder of the writer lock until the frame is queued, then to the leader.
// Safe because of the rules in the comment above.
final class FrameBlock: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    let capacity: Int
    var used = 0
    var queuedFrameCount = 0

    init(capacity: Int) {
        self.capacity = capacity
        start = BufferMemory.allocate(byteCount: capacity, alignment: 64)
    }

    deinit {
        BufferMemory.deallocate(start, byteCount: capacity)
    }
}
