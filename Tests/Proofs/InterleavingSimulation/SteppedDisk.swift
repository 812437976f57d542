import FaultlineDisk

/// A disk that forwards to another one, and lets a schedule switch threads before each call.
// Safe because a lock guards all mutable properties.
final class SteppedDisk: ForwardingDisk, @unchecked Sendable {
    private let guardian = EngineLock()
    private var schedule: StepSchedule?

    /// Sets the schedule for the following calls, or removes it.
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

    override func remove(_ path: String) throws(DiskError) {
        meet()
        try base.remove(path)
    }

    override func rename(_ source: String, to target: String) throws(DiskError) {
        meet()
        try base.rename(source, to: target)
    }

    override func synchronizeDirectory(_ path: String, site: SyncSite) throws(DiskError) {
        meet()
        try base.synchronizeDirectory(path, site: site)
    }
}

/// A file of a `SteppedDisk`.
// Safe because its property is immutable.
private final class SteppedDiskFile: ForwardingDiskFile, @unchecked Sendable {
    private let disk: SteppedDisk

    init(over base: DiskFile, of disk: SteppedDisk) {
        self.disk = disk
        super.init(over: base)
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

    override func close() {
        disk.meet()
        base.close()
    }
}
