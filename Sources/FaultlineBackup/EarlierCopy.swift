internal import FaultlineDisk
internal import FaultlineLog

/// A copy of a blob segment that was in use: its bytes that are not 0 were written, and do not change any more.
///
/// Memory: as much as the parts that it is compared with.
struct EarlierCopy {
    private let file: DiskFile
    private let byteCount: UInt64

    init(_ path: String, byteCount: UInt64, on disk: Disk) throws(LogError) {
        file = try onDisk("opening an earlier copy") { () throws(DiskError) in try disk.open(path, for: .reading) }
        self.byteCount = byteCount
    }

    func close() { file.close() }

    /// The place of the first byte that is not 0 here and differs there.
    func difference(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) -> UInt64? {
        guard offset < byteCount, !bytes.isEmpty else { return nil }
        let count = Int(min(UInt64(bytes.count), byteCount - offset))
        let buffer = BufferMemory.allocateBuffer(byteCount: count)
        defer { BufferMemory.deallocate(buffer) }
        let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        let found = try file.read(into: target, at: offset)
        let place = (0..<found).first { target[$0] != 0 && target[$0] != bytes[$0] }
        return place.map { offset + UInt64($0) }
    }
}
