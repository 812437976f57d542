import FaultlineDisk

/// Memory for page handles, cut from slabs.
///
/// A store has a handle for each page of its tables, resident or not. While it is written to, handles are created and
/// freed between allocations of all sizes, which would fragment the heap. Slabs are kept as long as the arena exists.
/// The budget does not count them: with their slots they come to 56 bytes for 336 objects.
///
/// Concurrency: guarded by its lock.
// Safe because all mutable state is guarded by the lock.
final class PageHandleArena: @unchecked Sendable {
    private static let slabByteCount = 64 << 10

    private let lock = EngineLock()
    private var slabs: [UnsafeMutableRawPointer] = []
    /// The first free handle: each holds the address of the next.
    private var free: UnsafeMutableRawPointer?
    /// Bytes of the newest slab that are allocated.
    private var used = PageHandleArena.slabByteCount

    deinit {
        for slab in slabs { BufferMemory.deallocate(slab, byteCount: Self.slabByteCount) }
    }

    /// Memory for a handle, not initialized.
    func take() -> PageHandlePointer {
        lock.lock()
        defer { lock.unlock() }
        if let memory = free {
            free = memory.load(as: UnsafeMutableRawPointer?.self)
            return memory.bindMemory(to: PageHandle.self, capacity: 1)
        }
        let stride = MemoryLayout<PageHandle>.stride
        if used + stride > Self.slabByteCount {
            slabs.append(BufferMemory.allocate(byteCount: Self.slabByteCount))
            used = 0
        }
        let memory = slabs[slabs.count - 1] + used
        used += stride
        return memory.bindMemory(to: PageHandle.self, capacity: 1)
    }

    /// Frees the memory of a deinitialized handle.
    func give(_ handle: PageHandlePointer) {
        let memory = UnsafeMutableRawPointer(handle)
        lock.lock()
        defer { lock.unlock() }
        memory.storeBytes(of: free, as: UnsafeMutableRawPointer?.self)
        free = memory
    }
}
