import FaultlineDisk

/// A disk over another whose calls are the places at which a schedule hands over.
// Safe because what varies is guarded by the lock.
final class SteppedDisk: Disk, @unchecked Sendable {
    private let base: Disk
    private let guardian = EngineLock()
    private var schedule: StepSchedule?

    init(over base: Disk) {
        self.base = base
        super.init()
    }

    /// Who decides from now on; nil for nobody.
    func follow(_ schedule: StepSchedule?) {
        guardian.withLock { self.schedule = schedule }
    }

    fileprivate func meet() { guardian.withLock { schedule }?.meet() }

    override func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
        meet()
        return SteppedDiskFile(over: try base.open(path, for: access), of: self)
    }

    override func names(in directory: String) throws(DiskError) -> [String] {
        meet()
        return try base.names(in: directory)
    }

    override func isPresent(_ path: String) throws(DiskError) -> Bool { try base.isPresent(path) }

    override func createDirectory(_ path: String) throws(DiskError) { try base.createDirectory(path) }

    override func remove(_ path: String) throws(DiskError) {
        meet()
        try base.remove(path)
    }

    override func removeDirectory(_ path: String) throws(DiskError) { try base.removeDirectory(path) }

    override func rename(_ source: String, to target: String) throws(DiskError) {
        meet()
        try base.rename(source, to: target)
    }

    override func synchronizeDirectory(_ path: String, site: SyncSite) throws(DiskError) {
        meet()
        try base.synchronizeDirectory(path, site: site)
    }

    override func identity(of path: String) throws(DiskError) -> FileIdentity { try base.identity(of: path) }

    override func freeByteCount(in directory: String) throws(DiskError) -> UInt64 {
        try base.freeByteCount(in: directory)
    }

    override func fileSystem(of path: String) throws(DiskError) -> FileSystemKind { try base.fileSystem(of: path) }
}

/// A file of such a disk.
// Safe because both properties are immutable.
private final class SteppedDiskFile: DiskFile, @unchecked Sendable {
    private let base: DiskFile
    private let disk: SteppedDisk

    init(over base: DiskFile, of disk: SteppedDisk) {
        self.base = base
        self.disk = disk
        super.init(path: base.path)
    }

    override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
        disk.meet()
        return try base.read(into: buffer, at: offset)
    }

    override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) {
        disk.meet()
        try base.write(bytes, at: offset)
    }

    override func synchronize(site: SyncSite) throws(DiskError) {
        disk.meet()
        try base.synchronize(site: site)
    }

    override func reserve(from offset: UInt64, through end: UInt64) throws(DiskError) {
        try base.reserve(from: offset, through: end)
    }

    override func releaseReserve() throws(DiskError) { try base.releaseReserve() }
    override func cut(to byteCount: UInt64) throws(DiskError) { try base.cut(to: byteCount) }

    override func byteCount() throws(DiskError) -> UInt64 { try base.byteCount() }

    override func lock(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        try base.lock(byte: byte, exclusively: exclusively)
    }

    override func isLocked(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        try base.isLocked(byte: byte, exclusively: exclusively)
    }

    override func unlock(byte: UInt64) throws(DiskError) { try base.unlock(byte: byte) }

    override func forgetCachedPages() throws(DiskError) { try base.forgetCachedPages() }

    override func close() {
        disk.meet()
        base.close()
    }
}
