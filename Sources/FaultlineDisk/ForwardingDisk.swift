/// Passes every call to another disk; subclasses override calls to count, fail or stop them.
///
/// `copy` consists of the other calls, so it also uses the overrides.
// Safe because its property is immutable, and each subclass is responsible for its own.
open class ForwardingDisk: Disk, @unchecked Sendable {
    /// The disk that receives the calls.
    package let base: Disk

    package init(over base: Disk) {
        self.base = base
        super.init()
    }

    override open func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
        try base.open(path, for: access)
    }

    override open func names(in directory: String) throws(DiskError) -> [String] { try base.names(in: directory) }

    override open func isPresent(_ path: String) throws(DiskError) -> Bool { try base.isPresent(path) }

    override open func createDirectory(_ path: String) throws(DiskError) { try base.createDirectory(path) }
    override open func restrictToOwner(_ directory: String) { base.restrictToOwner(directory) }

    override open func remove(_ path: String) throws(DiskError) { try base.remove(path) }

    override open func removeDirectory(_ path: String) throws(DiskError) { try base.removeDirectory(path) }

    override open func rename(_ source: String, to target: String) throws(DiskError) {
        try base.rename(source, to: target)
    }

    override open func synchronizeDirectory(_ path: String, site: SyncSite) throws(DiskError) {
        try base.synchronizeDirectory(path, site: site)
    }

    override open var systemStart: String? { base.systemStart }

    override package var openFiles: OpenFileCount? { base.openFiles }
    override package func takeOpenFileExcess() -> OpenFileCount? { base.takeOpenFileExcess() }

    override open func identity(of path: String) throws(DiskError) -> FileIdentity { try base.identity(of: path) }

    override open func freeByteCount(in directory: String) throws(DiskError) -> UInt64 {
        try base.freeByteCount(in: directory)
    }

    override open func fileSystem(of path: String) throws(DiskError) -> FileSystemKind {
        try base.fileSystem(of: path)
    }
}

/// A file of a `ForwardingDisk`.
// Safe because its property is immutable, and each subclass is responsible for its own.
open class ForwardingDiskFile: DiskFile, @unchecked Sendable {
    /// The file that receives the calls.
    package let base: DiskFile

    package init(over base: DiskFile) {
        self.base = base
        super.init(path: base.path)
    }

    override open func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
        try base.read(into: buffer, at: offset)
    }

    override open func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) {
        try base.write(bytes, at: offset)
    }

    override open func reserve(from offset: UInt64, through end: UInt64) throws(DiskError) {
        try base.reserve(from: offset, through: end)
    }

    override open func releaseReserve() throws(DiskError) { try base.releaseReserve() }

    override open func cut(to byteCount: UInt64) throws(DiskError) { try base.cut(to: byteCount) }

    override open func synchronize(site: SyncSite) throws(DiskError) { try base.synchronize(site: site) }

    override open func byteCount() throws(DiskError) -> UInt64 { try base.byteCount() }

    override open func lock(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        try base.lock(byte: byte, exclusively: exclusively)
    }

    override open func isLocked(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        try base.isLocked(byte: byte, exclusively: exclusively)
    }

    override open func unlock(byte: UInt64) throws(DiskError) { try base.unlock(byte: byte) }

    override open func forgetCachedPages() throws(DiskError) { try base.forgetCachedPages() }

    override package func mayRest(with group: RestingFiles) { base.mayRest(with: group) }

    override open func close() { base.close() }
}
