import FaultlineDisk
import Glibc
import Synchronization

/// A handle on a file of a simulated disk.
// Safe because everything but the flag is immutable, and the flag is atomic.
final class SimulatedDiskFile: DiskFile, @unchecked Sendable {
    private let disk: SimulatedDisk
    private let file: Int
    private let handle: Int
    private let isWritable: Bool
    private let isClosed: Atomic<Bool>

    init(disk: SimulatedDisk, path: String, file: Int, handle: Int, isWritable: Bool) {
        self.disk = disk
        self.file = file
        self.handle = handle
        self.isWritable = isWritable
        isClosed = Atomic(false)
        super.init(path: path)
    }

    deinit {
        close()
    }

    private func check(_ call: SystemCall, needsWriting: Bool = false) throws(DiskError) {
        if isClosed.load(ordering: .relaxed) {
            throw DiskError(code: .notOpen, systemCall: call, errorNumber: EBADF, path: path)
        }
        if needsWriting, !isWritable {
            throw DiskError(code: .notWritable, systemCall: call, errorNumber: EBADF, path: path)
        }
    }

    override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
        try check(.pread)
        return disk.read(file, into: buffer, at: offset)
    }

    override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) {
        try check(.pwrite, needsWriting: true)
        if bytes.count > 0 { try disk.write(file, path, bytes, at: offset) }
    }

    override func reserve(from offset: UInt64, through end: UInt64) throws(DiskError) {
        try check(.fallocate, needsWriting: true)
        try disk.reserve(file, path, from: offset, through: end)
    }

    override func releaseReserve() throws(DiskError) {
        try check(.ftruncate, needsWriting: true)
        disk.releaseReserve(file)
    }

    override func cut(to byteCount: UInt64) throws(DiskError) {
        try check(.ftruncate, needsWriting: true)
        disk.cut(file, path, to: byteCount)
    }

    override func synchronize(site: SyncSite) throws(DiskError) {
        try check(.fdatasync)
        disk.synchronize(file, path, site: site)
    }

    /// Fails to synchronize: the dirty pages are lost in the way of `loss`.
    ///
    /// `seed` chooses the sectors that reach the medium nonetheless; nil for none.
    func losePages(_ loss: PageLoss, site: SyncSite, seed: UInt64?) throws(DiskError) {
        try check(.fdatasync)
        disk.lose(file, path, site: site, loss, seed: seed)
    }

    override func byteCount() throws(DiskError) -> UInt64 {
        try check(.fstat)
        return disk.byteCount(file)
    }

    override func lock(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        try check(.fcntl, needsWriting: exclusively)
        return disk.lock(file, handle: handle, byte: byte, exclusively: exclusively)
    }

    override func isLocked(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        try check(.fcntl)
        return disk.isLocked(file, handle: handle, byte: byte, exclusively: exclusively)
    }

    override func unlock(byte: UInt64) throws(DiskError) {
        try check(.fcntl)
        disk.unlock(file, handle: handle, byte: byte)
    }

    override func forgetCachedPages() throws(DiskError) {
        try check(.posixFadvise)
    }

    override func close() {
        if !isClosed.exchange(true, ordering: .relaxed) { disk.close(file, handle: handle) }
    }
}
