import FaultlineDisk
import Synchronization

/// A disk with one directory, which shows a store as it was: files of another one, some of them cut, and files of its
/// own in memory.
///
/// Its files are open: they can be read after the store has removed them.
// Safe because mutable state is guarded.
final class PastDisk: Disk, @unchecked Sendable {
    static let directory = "/past"

    /// A file of the other store, and the bytes of it that are shown.
    private struct Shown {
        let file: SharedFile
        var byteCount: UInt64
    }

    private let shown = Guarded<[String: Shown]>([:])
    private let memory = MemoryDisk()

    override init() {
        super.init()
        // The directory is the first one, so its name is free.
        try? memory.createDirectory(Self.directory)
    }

    deinit { release() }

    /// Shows a file, up to a length.
    func show(_ name: String, _ file: DiskFile, byteCount: UInt64) {
        shown.withLock { $0[name] = Shown(file: SharedFile(file), byteCount: byteCount) }
    }

    /// Shows the files with these names only.
    func keep(only names: Set<String>) {
        shown.withLock { shown in
            for (name, file) in shown where !names.contains(name) { file.file.leave() }
            shown = shown.filter { names.contains($0.key) }
        }
    }

    /// Shows fewer bytes of a file.
    func cut(_ name: String, to byteCount: UInt64) {
        shown.withLock { $0[name]?.byteCount = byteCount }
    }

    /// Opens no more files: each is closed with its last use.
    func release() { keep(only: []) }

    private static func name(_ path: String) -> String? {
        path.hasPrefix(directory + "/") ? String(path.dropFirst(directory.count + 1)) : nil
    }

    private func isShown(_ path: String) -> Bool {
        guard let name = Self.name(path) else { return false }
        return shown.withLock { $0[name] != nil }
    }

    override func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
        guard isShown(path) else { return try memory.open(path, for: access) }
        guard access == .reading else {
            throw DiskError(code: .readOnlyFileSystem, systemCall: .open, path: path)
        }
        let file = shown.withLock { shown -> PastFile? in
            guard let found = Self.name(path).flatMap({ shown[$0] }) else { return nil }
            found.file.join()
            return PastFile(found.file, byteCount: found.byteCount)
        }
        guard let file else { throw DiskError(code: .notFound, systemCall: .open, path: path) }
        return file
    }

    override func names(in directory: String) throws(DiskError) -> [String] {
        let own = try memory.names(in: directory)
        return (shown.withLock { Array($0.keys) } + own).sorted {
            $0.unicodeScalars.lexicographicallyPrecedes($1.unicodeScalars)
        }
    }

    override func isPresent(_ path: String) throws(DiskError) -> Bool {
        if isShown(path) { return true }
        return try memory.isPresent(path)
    }

    override func remove(_ path: String) throws(DiskError) {
        guard !isShown(path) else {
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
