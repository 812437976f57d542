import Synchronization

/// A hold on a verified block, which stays in memory while it is held.
///
/// The count of holds is in the block's own memory, not in an object: a hit costs one addition, and no allocation. The
/// cache holds its blocks too, so a block that the cache evicts stays valid for its readers.
struct BlockHandle: ~Copyable {
    private let memory: UnsafeMutableRawPointer

    /// Takes over one hold on `memory`.
    fileprivate init(holding memory: UnsafeMutableRawPointer) {
        self.memory = memory
    }

    deinit {
        BlockMemory(start: memory).release()
    }

    @inline(__always) var start: UnsafeRawPointer { UnsafeRawPointer(memory + BlockMemory.headerByteCount) }
    @inline(__always) var byteCount: Int { BlockMemory(start: memory).byteCount }
}

/// Memory of one block: a count of holds, the size, the bytes.
///
/// It is reference-counted, as described at `BlockHandle`.
struct BlockMemory {
    static let headerByteCount = 16

    let start: UnsafeMutableRawPointer

    /// Allocates memory for `byteCount` bytes, with one hold.
    static func allocate(byteCount: Int) -> BlockMemory {
        let start = UnsafeMutableRawPointer.allocate(byteCount: headerByteCount + byteCount, alignment: 16)
        start.storeBytes(of: 1, as: UInt32.self)
        start.storeBytes(of: UInt32(truncatingIfNeeded: byteCount), toByteOffset: 4, as: UInt32.self)
        return BlockMemory(start: start)
    }

    @inline(__always) var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: start + Self.headerByteCount, count: byteCount)
    }
    /// The address of the bytes.
    @inline(__always) var content: UnsafeRawPointer { UnsafeRawPointer(start + Self.headerByteCount) }
    @inline(__always) var byteCount: Int { Int(start.load(fromByteOffset: 4, as: UInt32.self)) }

    // Safe because an atomic word has the representation of the word.
    @inline(__always) private var holds: UnsafeMutablePointer<Atomic<UInt32>> {
        start.assumingMemoryBound(to: Atomic<UInt32>.self)
    }

    /// Whether it has holders besides the caller.
    @inline(__always) var isShared: Bool { holds.pointee.load(ordering: .acquiring) > 1 }

    /// One more hold, as a handle.
    @inline(__always)
    func retained() -> BlockHandle {
        retain()
        return BlockHandle(holding: start)
    }

    /// Takes one more hold.
    @inline(__always)
    func retain() { holds.pointee.wrappingAdd(1, ordering: .relaxed) }

    /// Releases one hold.
    @inline(__always)
    func release() {
        if holds.pointee.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { start.deallocate() }
    }
}
