package import FaultlineDisk

extension DiskFile {
    private static let blockByteCount = 64 << 10

    /// The offset of the zeros at the file's end: behind its last other byte, at a multiple of 8.
    ///
    /// - Parameter start: Bytes before it do not count as zeros.
    /// - Returns: At least `start`, unless the file is shorter.
    /// - Throws: Disk errors.
    /// - Complexity: Reads the zeros, from their end.
    package func endWithoutZeros(from start: UInt64) throws(DiskError) -> UInt64 {
        var end = try byteCount()
        guard end > start else { return end }
        let buffer = BufferMemory.allocateBuffer(byteCount: Self.blockByteCount)
        defer { BufferMemory.deallocate(buffer) }
        while end > start {
            let block = max(start, end - min(end, UInt64(Self.blockByteCount)))
            let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(end - block)])
            let bytes = UnsafeRawBufferPointer(rebasing: wanted[..<(try read(into: wanted, at: block))])
            if let last = bytes.lastIndex(where: { $0 != 0 }) {
                return min((block + UInt64(last) + 1).roundedUpTo8, end)
            }
            end = block
        }
        return start
    }
}
