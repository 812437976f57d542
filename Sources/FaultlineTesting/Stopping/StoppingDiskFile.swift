import FaultlineDisk

/// A handle of a `StoppingDisk`.
// Safe because its property is immutable and may be used from any thread.
final class StoppingDiskFile: ForwardingDiskFile, @unchecked Sendable {
    private let disk: StoppingDisk

    init(over base: DiskFile, of disk: StoppingDisk) {
        self.disk = disk
        super.init(over: base)
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
}
