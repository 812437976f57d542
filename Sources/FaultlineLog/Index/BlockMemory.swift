import Synchronization

/// A verified block that stays in memory as long as somebody holds it.
///
/// It is held by a count in its own memory, not by an object: a hit costs one addition, and no allocation. The cache
/// holds its blocks too, so that dropping a block from the cache does not pull it away from a reader.
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
/// Owned by counting, as `BlockHandle` says.
struct BlockMemory {
    static let headerByteCount = 16

    let start: UnsafeMutableRawPointer

    /// Memory for `byteCount` bytes, held once.
    static func allocate(byteCount: Int) -> BlockMemory {
        let start = UnsafeMutableRawPointer.allocate(byteCount: headerByteCount + byteCount, alignment: 16)
        start.storeBytes(of: 1, as: UInt32.self)
        start.storeBytes(of: UInt32(truncatingIfNeeded: byteCount), toByteOffset: 4, as: UInt32.self)
        return BlockMemory(start: start)
    }

    @inline(__always) var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: start + Self.headerByteCount, count: byteCount)
    }
    /// Where the bytes begin.
    @inline(__always) var content: UnsafeRawPointer { UnsafeRawPointer(start + Self.headerByteCount) }
    @inline(__always) var byteCount: Int { Int(start.load(fromByteOffset: 4, as: UInt32.self)) }

    // Safe because an atomic word has the representation of the word.
    @inline(__always) private var holds: UnsafeMutablePointer<Atomic<UInt32>> {
        start.assumingMemoryBound(to: Atomic<UInt32>.self)
    }

    /// Somebody besides the caller holds it.
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

    /// Gives up one hold.
    @inline(__always)
    func release() {
        if holds.pointee.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { start.deallocate() }
    }
}
