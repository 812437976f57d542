import FaultlineDisk
import FaultlineTestSupport

/// Passes calls to another disk, but breaks one rule.
// Safe because its property is immutable.
final class BrokenDisk: ForwardingDisk, @unchecked Sendable {
    fileprivate let canary: FaultCanary

    init(over base: Disk, _ canary: FaultCanary) {
        self.canary = canary
        super.init(over: base)
    }

    fileprivate func run<R>(_ call: () throws(DiskError) -> R) throws(DiskError) -> R {
        do {
            return try call()
        } catch {
            switch canary {
            case .bluntsErrors:
                throw DiskError(
                    code: .ioFailure, systemCall: error.systemCall, errorNumber: error.errorNumber, path: error.path)
            case .forgetsPaths:
                throw DiskError(errorNumber: error.errorNumber, systemCall: error.systemCall, path: "")
            default: throw error
            }
        }
    }

    override func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
        BrokenDiskFile(over: try run { () throws(DiskError) in try base.open(path, for: access) }, of: self)
    }

    override func names(in directory: String) throws(DiskError) -> [String] {
        try run { () throws(DiskError) in try base.names(in: directory) }
    }

    override func isPresent(_ path: String) throws(DiskError) -> Bool {
        try run { () throws(DiskError) in try base.isPresent(path) }
    }

    override func createDirectory(_ path: String) throws(DiskError) {
        try run { () throws(DiskError) in try base.createDirectory(path) }
    }

    override func remove(_ path: String) throws(DiskError) {
        try run { () throws(DiskError) in try base.remove(path) }
    }

    override func removeDirectory(_ path: String) throws(DiskError) {
        try run { () throws(DiskError) in try base.removeDirectory(path) }
    }

    override func rename(_ source: String, to target: String) throws(DiskError) {
        try run { () throws(DiskError) in try base.rename(source, to: target) }
    }

    override func synchronizeDirectory(_ path: String, site: SyncSite) throws(DiskError) {
        try run { () throws(DiskError) in try base.synchronizeDirectory(path, site: site) }
    }

    override func identity(of path: String) throws(DiskError) -> FileIdentity {
        try run { () throws(DiskError) in try base.identity(of: path) }
    }

    override func freeByteCount(in directory: String) throws(DiskError) -> UInt64 {
        try run { () throws(DiskError) in try base.freeByteCount(in: directory) }
    }

    override func fileSystem(of path: String) throws(DiskError) -> FileSystemKind {
        try run { () throws(DiskError) in try base.fileSystem(of: path) }
    }
}

/// A file of a `BrokenDisk`.
// Safe because its property is immutable.
private final class BrokenDiskFile: ForwardingDiskFile, @unchecked Sendable {
    private let disk: BrokenDisk

    init(over base: DiskFile, of disk: BrokenDisk) {
        self.disk = disk
        super.init(over: base)
        if disk.canary == .leaksHandles { _ = Unmanaged.passRetained(base) }
    }

    override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
        try disk.run { () throws(DiskError) in try base.read(into: buffer, at: offset) }
    }

    override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) {
        do {
            try disk.run { () throws(DiskError) in try base.write(bytes, at: offset) }
        } catch {
            if disk.canary != .hidesFailedWrites { throw error }
        }
    }

    override func synchronize(site: SyncSite) throws(DiskError) {
        if disk.canary == .acknowledgesEarly { return }
        do {
            try disk.run { () throws(DiskError) in try base.synchronize(site: site) }
        } catch {
            guard disk.canary == .retriesSynchronizing else { throw error }
            try base.synchronize(site: site)
        }
    }

    override func reserve(from offset: UInt64, through end: UInt64) throws(DiskError) {
        try disk.run { () throws(DiskError) in try base.reserve(from: offset, through: end) }
    }

    override func releaseReserve() throws(DiskError) {
        try disk.run { () throws(DiskError) in try base.releaseReserve() }
    }

    override func cut(to byteCount: UInt64) throws(DiskError) {
        try disk.run { () throws(DiskError) in try base.cut(to: byteCount) }
    }

    override func byteCount() throws(DiskError) -> UInt64 {
        try disk.run { () throws(DiskError) in try base.byteCount() }
    }

    override func lock(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        try disk.run { () throws(DiskError) in try base.lock(byte: byte, exclusively: exclusively) }
    }

    override func isLocked(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        try disk.run { () throws(DiskError) in try base.isLocked(byte: byte, exclusively: exclusively) }
    }

    override func unlock(byte: UInt64) throws(DiskError) {
        try disk.run { () throws(DiskError) in try base.unlock(byte: byte) }
    }

    override func forgetCachedPages() throws(DiskError) {
        try disk.run { () throws(DiskError) in try base.forgetCachedPages() }
    }

    override func close() {
        if disk.canary != .leaksHandles { base.close() }
    }
}
