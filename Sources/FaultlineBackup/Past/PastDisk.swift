import FaultlineDisk
import Synchronization

/// A disk with one directory, which shows a store as it was: files of another one, some of them cut, and files of its
/// own in memory.
///
/// The files are open as long as the disk is in use: they can be read after the store has removed them.
// Safe because mutable state is guarded.
final class PastDisk: Disk, @unchecked Sendable {
    static let directory = "/past"

    /// A file of the other store, and the bytes of it that are shown.
    private struct Shown {
        let file: DiskFile
        var byteCount: UInt64
    }

    private let shown = Guarded<[String: Shown]>([:])
    private let memory = MemoryDisk()

    override init() {
        super.init()
        // The directory is the first one, so its name is free.
        try? memory.createDirectory(Self.directory)
    }

    /// Shows a file, up to its present length.
    func show(_ name: String, _ file: DiskFile) throws(DiskError) {
        let byteCount = try file.byteCount()
        shown.withLock { $0[name] = Shown(file: file, byteCount: byteCount) }
    }

    /// Shows the files with these names only.
    func keep(only names: Set<String>) {
        shown.withLock { $0 = $0.filter { names.contains($0.key) } }
    }

    /// Shows fewer bytes of a file.
    func cut(_ name: String, to byteCount: UInt64) {
        shown.withLock { $0[name]?.byteCount = byteCount }
    }

    private func find(_ path: String) -> Shown? {
        shown.withLock { $0[String(path.dropFirst(Self.directory.utf8.count + 1))] }
    }

    override func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
        guard let found = find(path) else { return try memory.open(path, for: access) }
        guard access == .reading else {
            throw DiskError(code: .readOnlyFileSystem, systemCall: .open, path: found.file.path)
        }
        return PastFile(over: found.file, byteCount: found.byteCount)
    }

    override func names(in directory: String) throws(DiskError) -> [String] {
        let own = try memory.names(in: directory)
        return (shown.withLock { Array($0.keys) } + own).sorted {
            $0.unicodeScalars.lexicographicallyPrecedes($1.unicodeScalars)
        }
    }

    override func isPresent(_ path: String) throws(DiskError) -> Bool {
        if find(path) != nil { return true }
        return try memory.isPresent(path)
    }

    override func remove(_ path: String) throws(DiskError) {
        guard find(path) == nil else {
            throw DiskError(code: .readOnlyFileSystem, systemCall: .unlink, path: path)
        }
        try memory.remove(path)
    }

    override func rename(_ source: String, to target: String) throws(DiskError) {
        try memory.rename(source, to: target)
    }

    override func synchronizeDirectory(_ path: String, site: SyncSite) throws(DiskError) {}
    override func identity(of path: String) throws(DiskError) -> FileIdentity { try memory.identity(of: path) }
    override func freeByteCount(in directory: String) throws(DiskError) -> UInt64 { 0 }

    override func fileSystem(of path: String) throws(DiskError) -> FileSystemKind {
        try memory.fileSystem(of: path)
    }
}

/// The beginning of a file that others may read too.
// Safe because its property is immutable.
private final class PastFile: ForwardingDiskFile, @unchecked Sendable {
    private let shownByteCount: UInt64

    init(over base: DiskFile, byteCount: UInt64) {
        shownByteCount = byteCount
        super.init(over: base)
    }

    override func byteCount() throws(DiskError) -> UInt64 { shownByteCount }

    override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
        guard offset < shownByteCount else { return 0 }
        let count = Int(min(UInt64(buffer.count), shownByteCount - offset))
        return try super.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
    }

    // The disk closes the file with its last use.
    override func close() {}
}
