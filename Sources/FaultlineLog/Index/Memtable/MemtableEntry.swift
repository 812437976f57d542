/// One entry in a memtable's arena: a header of 24 bytes and the key, zeros up to a multiple of 8.
///
/// A linked entry does not change, except for the mark of being reverted. No reader that may see the entry can be
/// active when the mark is set.
struct MemtableEntry {
    static let headerByteCount = 24

    let base: UnsafeRawPointer

    @inline(__always)
    init(_ base: UnsafeRawPointer) {
        self.base = base
    }

    /// The next older entry of the same search prefix; `.none` ends the chain.
    @inline(__always) var next: MemtableArena.Reference { base.load(as: UInt32.self) }
    @inline(__always) var keyByteCount: Int { Int(base.load(fromByteOffset: 4, as: UInt16.self)) }
    @inline(__always) var isDelete: Bool { base.load(fromByteOffset: 6, as: UInt8.self) & 1 != 0 }
    /// Whether its transaction was abandoned, so that it does not count.
    ///
    /// Check the sequence number first: while the mark is being set, only readers with lower limits are active.
    @inline(__always) var isVoid: Bool { base.load(fromByteOffset: 6, as: UInt8.self) & 2 != 0 }
    @inline(__always) var sequence: UInt64 { base.load(fromByteOffset: 8, as: UInt64.self) }
    @inline(__always) var id: RecordID { base.load(fromByteOffset: 16, as: UInt64.self) }
    @inline(__always) var key: UnsafeRawPointer { base + Self.headerByteCount }

    /// Whether a reader at `limit` sees it.
    @inline(__always)
    func isVisible(at limit: UInt64) -> Bool { sequence <= limit && !isVoid }

    /// Bytes in the arena for a key of that size.
    @inline(__always)
    static func byteCount(keyByteCount: Int) -> Int { (headerByteCount &+ keyByteCount &+ 7) & ~7 }

    /// Writes an entry at `base`, which has room for it.
    @inline(__always)
    static func write(
        at base: UnsafeMutableRawPointer, key: UnsafeRawBufferPointer, next: MemtableArena.Reference, id: RecordID,
        isDelete: Bool,
        sequence: UInt64
    ) {
        base.storeBytes(of: next, as: UInt32.self)
        base.storeBytes(of: UInt16(truncatingIfNeeded: key.count), toByteOffset: 4, as: UInt16.self)
        base.storeBytes(of: isDelete ? 1 : 0, toByteOffset: 6, as: UInt16.self)
        base.storeBytes(of: sequence, toByteOffset: 8, as: UInt64.self)
        base.storeBytes(of: id, toByteOffset: 16, as: UInt64.self)
        guard let source = key.baseAddress, key.count > 0 else { return }
        let target = base + headerByteCount
        // Zeros behind the key, so that the padding does not hold old memory.
        if key.count & 7 != 0 { target.storeBytes(of: 0, toByteOffset: key.count & ~7, as: UInt64.self) }
        target.copyMemory(from: source, byteCount: key.count)
    }

    /// Marks the entry as reverted.
    func markVoid() {
        let flags = base.load(fromByteOffset: 6, as: UInt8.self)
        UnsafeMutableRawPointer(mutating: base).storeBytes(of: flags | 2, toByteOffset: 6, as: UInt8.self)
    }
}
