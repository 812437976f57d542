/// A copy of a key, valid longer than the bytes it came from.
///
/// A class, so that structs that hold one stay copyable; its memory grows to the largest key copied.
package final class KeyCopy {
    private(set) var start: UnsafeMutableRawPointer
    private(set) var byteCount = 0
    private var capacity: Int

    package init() {
        capacity = 128
        start = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        start.deallocate()
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: byteCount) }

    @inline(__always)
    package func set(_ key: UnsafeRawPointer, _ keyByteCount: Int) {
        if keyByteCount > capacity { grow(to: keyByteCount, keeping: 0) }
        start.copyMemory(from: key, byteCount: keyByteCount)
        byteCount = keyByteCount
    }

    /// Keeps the first `sharedByteCount` bytes and appends others.
    @inline(__always)
    func replace(after sharedByteCount: Int, with key: UnsafeRawPointer, _ furtherByteCount: Int) {
        let count = sharedByteCount &+ furtherByteCount
        if count > capacity { grow(to: count, keeping: sharedByteCount) }
        (start + sharedByteCount).copyMemory(from: key, byteCount: furtherByteCount)
        byteCount = count
    }

    /// Appends the byte 00, a number as 8 bytes, big endian, and other bytes: the end of a posting's key.
    @inline(__always)
    func append(id: UInt64, _ payload: UnsafeRawBufferPointer) {
        let count = byteCount &+ 9 &+ payload.count
        if count > capacity { grow(to: count, keeping: byteCount) }
        let end = start + byteCount
        end.storeBytes(of: 0, as: UInt8.self)
        end.storeBytes(of: id.bigEndian, toByteOffset: 1, as: UInt64.self)
        if let source = payload.baseAddress { (end + 9).copyMemory(from: source, byteCount: payload.count) }
        byteCount = count
    }

    @inline(__always)
    package func equals(_ key: UnsafeRawPointer, _ keyByteCount: Int) -> Bool {
        keyByteCount == byteCount && KeyBytes.areEqual(start, key, keyByteCount)
    }

    private func grow(to count: Int, keeping kept: Int) {
        let larger = UnsafeMutableRawPointer.allocate(byteCount: count * 2, alignment: 16)
        larger.copyMemory(from: start, byteCount: kept)
        start.deallocate()
        start = larger
        capacity = count * 2
    }
}
