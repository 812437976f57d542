import FaultlineDisk

/// A handle of a `CountingDisk`.
// Safe because its property is immutable and may be used from any thread.
final class CountingDiskFile: ForwardingDiskFile, @unchecked Sendable {
    private let disk: CountingDisk

    init(over base: DiskFile, of disk: CountingDisk) {
        self.disk = disk
        super.init(over: base)
    }

    override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
        disk.count(path) { $0.reads += 1 }
        let byteCount = try base.read(into: buffer, at: offset)
        disk.count(path) { $0.bytesRead += byteCount }
        return byteCount
    }

    override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) {
        disk.count(path) { $0.writes += 1 }
        try base.write(bytes, at: offset)
        disk.count(path) { $0.bytesWritten += bytes.count }
    }

    override func reserve(from offset: UInt64, through end: UInt64) throws(DiskError) {
        disk.count(path) { $0.reservations += 1 }
        try base.reserve(from: offset, through: end)
    }

    override func synchronize(site: SyncSite) throws(DiskError) {
        disk.count(path) { $0.synchronizations += 1 }
        try base.synchronize(site: site)
    }

    override func byteCount() throws(DiskError) -> UInt64 {
        disk.count(path) { $0.questions += 1 }
        return try base.byteCount()
    }

    override func lock(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        disk.count(path) { $0.locks += 1 }
        return try base.lock(byte: byte, exclusively: exclusively)
    }

    override func isLocked(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        disk.count(path) { $0.questions += 1 }
        return try base.isLocked(byte: byte, exclusively: exclusively)
    }

    override func unlock(byte: UInt64) throws(DiskError) {
        disk.count(path) { $0.locks += 1 }
        try base.unlock(byte: byte)
    }
}
