import FaultlineDisk

/// A handle of a disk that stops.
// Safe because both properties are immutable and may be used from any thread.
final class StoppingDiskFile: DiskFile, @unchecked Sendable {
    private let base: DiskFile
    private let disk: StoppingDisk

    init(over base: DiskFile, of disk: StoppingDisk) {
        self.base = base
        self.disk = disk
        super.init(path: base.path)
    }

    override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
        try base.read(into: buffer, at: offset)
    }

    override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) {
        switch disk.fate() {
        case .made: try base.write(bytes, at: offset)
        case .madeByHalf:
            try base.write(UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]), at: offset)
            throw StoppingDisk.refusal(.pwrite, path)
        case .refused: throw StoppingDisk.refusal(.pwrite, path)
        }
    }

    override func reserve(from offset: UInt64, through end: UInt64) throws(DiskError) {
        try disk.change(.pwrite, path) { () throws(DiskError) in try base.reserve(from: offset, through: end) }
    }

    override func releaseReserve() throws(DiskError) {
        if disk.hasStopped { throw StoppingDisk.refusal(.pwrite, path) }
        try base.releaseReserve()
    }

    override func cut(to byteCount: UInt64) throws(DiskError) {
        try disk.change(.pwrite, path) { () throws(DiskError) in try base.cut(to: byteCount) }
    }

    override func synchronize(site: SyncSite) throws(DiskError) {
        if disk.hasStopped { throw StoppingDisk.refusal(.fdatasync, path) }
        try base.synchronize(site: site)
    }

    override func byteCount() throws(DiskError) -> UInt64 { try base.byteCount() }

    override func lock(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        try base.lock(byte: byte, exclusively: exclusively)
    }

    override func isLocked(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        try base.isLocked(byte: byte, exclusively: exclusively)
    }

    override func unlock(byte: UInt64) throws(DiskError) { try base.unlock(byte: byte) }

    override func forgetCachedPages() throws(DiskError) { try base.forgetCachedPages() }

    override func close() { base.close() }
}
