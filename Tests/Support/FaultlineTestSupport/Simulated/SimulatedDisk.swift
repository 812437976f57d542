package import FaultlineDisk
import Glibc

/// A file system in memory that models the effects of power loss.
///
/// It assumes no more than POSIX and "a synchronized sector stays": written bytes are certain only after `synchronize`,
/// which covers the file's bytes and length and not its entry; entries are certain only after `synchronizeDirectory`.
/// `crashImages` gives the disks that a power loss at this moment may leave; `afterProcessDeath` the one after the
/// process is killed.
///
/// Invariants:
/// - `read` returns the bytes written last, by any handle;
/// - with no write and no change of entries since the last synchronization of each file and directory, there is one
///   crash image, and it equals the disk;
/// - the hook and the trace see every mutating operation once, before it takes effect.
// Safe because all changing state is protected by `guardian`.
package final class SimulatedDisk: Disk, @unchecked Sendable {
    let guardian = EngineLock()
    var state: SimulatedState
    private var nextHandle = 0
    private var mutationCount = 0
    private var isTracing = false
    private var traced: [DiskOperation] = []
    private var hook: (@Sendable (SimulatedDisk, Int) -> Void)?
    private var ignores: (@Sendable (Synchronization) -> Bool)?
    private var siteCounts: [SyncSite: Int] = [:]
    private var synchronizationCount = 0
    private var fileSystemKind = FileSystemKind.ext4
    var capacity = 1 << 50

    /// The longest file; beyond it writes fail with `.fileTooLarge`.
    package static let fileByteCountMax = 1 << 34

    /// An empty disk with these directories, which are durable.
    package convenience init(directories: [String] = []) {
        self.init(state: SimulatedState())
        for path in directories { makeDurableDirectory(path) }
    }

    init(state: SimulatedState) {
        self.state = state
        super.init()
    }

    // MARK: watching and breaking

    /// One call that makes something durable.
    package struct Synchronization: Hashable, Sendable, CustomStringConvertible {
        package let path: String
        package let site: SyncSite
        package let isDirectory: Bool
        /// The number of earlier synchronizations of this disk.
        package let ordinal: Int
        /// The number of them with the same site.
        package let siteOrdinal: Int

        /// One line, such as `3: log.commit 2 of /store/log-1`.
        package var description: String {
            "\(ordinal): \(site) \(siteOrdinal) of \(isDirectory ? "directory " : "")\(path)"
        }
    }

    /// Called before every mutating operation, with the disk as it is and the operation's number, from 0.
    ///
    /// It runs outside the disk's lock and may take images.
    package var onOperation: (@Sendable (SimulatedDisk, Int) -> Void)? {
        get { guardian.withLock { hook } }
        set { guardian.withLock { hook = newValue } }
    }

    /// Whether a synchronization does nothing and still succeeds: a canary for tests that must detect it.
    package var ignoredSynchronizations: (@Sendable (Synchronization) -> Bool)? {
        get { guardian.withLock { ignores } }
        set { guardian.withLock { ignores = newValue } }
    }

    /// Mutating operations so far.
    package var operationCount: Int { guardian.withLock { mutationCount } }

    /// The number of synchronizations of each site, with ignored calls.
    package var synchronizationCounts: [SyncSite: Int] { guardian.withLock { siteCounts } }

    /// Whether operations are recorded in `trace`.
    package var recordsTrace: Bool {
        get { guardian.withLock { isTracing } }
        set { guardian.withLock { isTracing = newValue } }
    }

    /// The mutating operations since `recordsTrace` was set, in order.
    package var trace: [DiskOperation] { guardian.withLock { traced } }

    /// The total room for bytes of all files; a write beyond it stores the bytes that fit and fails with `.noSpace`.
    package var byteCapacity: Int {
        get { guardian.withLock { capacity } }
        set { guardian.withLock { capacity = newValue } }
    }

    func begin(_ operation: @autoclosure () -> DiskOperation) {
        guardian.lock()
        let index = mutationCount
        mutationCount += 1
        if isTracing { traced.append(operation()) }
        let hook = hook
        guardian.unlock()
        hook?(self, index)
    }

    /// Counts a synchronization; the lock is held.
    ///
    /// - Returns: Whether it must do its work.
    func admits(_ path: String, site: SyncSite, isDirectory: Bool) -> Bool {
        let siteOrdinal = siteCounts[site, default: 0]
        siteCounts[site] = siteOrdinal + 1
        defer { synchronizationCount += 1 }
        guard let ignores else { return true }
        return !ignores(
            Synchronization(
                path: path, site: site, isDirectory: isDirectory, ordinal: synchronizationCount,
                siteOrdinal: siteOrdinal))
    }

    // MARK: Disk

    override package func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
        if access == .creating { begin(DiskOperation(.create, path)) }
        return try guardian.withLock { () throws(DiskError) -> DiskFile in
            let entry = try entry(at: path, for: .open)
            let existing = state.directories[entry.directory].current[entry.name]
            let file: Int
            switch (existing, access) {
            case (.directory?, .creating), (.file?, .creating): throw failure(EEXIST, .open, path)
            case (.directory?, _): throw failure(EISDIR, .open, path)
            case (.file(let found)?, _): file = found
            case (nil, .creating):
                file = state.addFile()
                state.change(source: nil, target: entry, node: .file(file))
            case (nil, _): throw failure(ENOENT, .open, path)
            }
            state.files[file].handleCount += 1
            nextHandle += 1
            return SimulatedDiskFile(
                disk: self, path: path, file: file, handle: nextHandle, isWritable: access != .reading)
        }
    }

    override package func names(in directory: String) throws(DiskError) -> [String] {
        try guardian.withLock { () throws(DiskError) in
            state.directories[try self.directory(at: directory, for: .open)].current.keys.sorted()
        }
    }

    override package func isPresent(_ path: String) throws(DiskError) -> Bool {
        guardian.withLock {
            var isBlocked = false
            return state.node(at: path, isBlocked: &isBlocked) != nil
        }
    }

    override package func createDirectory(_ path: String) throws(DiskError) {
        begin(DiskOperation(.createDirectory, path))
        try guardian.withLock { () throws(DiskError) in
            let entry = try entry(at: path, for: .mkdir)
            if state.directories[entry.directory].current[entry.name] != nil { throw failure(EEXIST, .mkdir, path) }
            state.directories.append(SimulatedDirectory())
            state.change(source: nil, target: entry, node: .directory(state.directories.count - 1))
        }
    }

    override package func remove(_ path: String) throws(DiskError) {
        begin(DiskOperation(.remove, path))
        try guardian.withLock { () throws(DiskError) in
            let entry = try entry(at: path, for: .unlink)
            switch state.directories[entry.directory].current[entry.name] {
            case nil: throw failure(ENOENT, .unlink, path)
            case .directory?: throw failure(EISDIR, .unlink, path)
            case .file(let file)?: state.change(source: entry, target: nil, node: .file(file))
            }
        }
    }

    override package func removeDirectory(_ path: String) throws(DiskError) {
        begin(DiskOperation(.removeDirectory, path))
        try guardian.withLock { () throws(DiskError) in
            let entry = try entry(at: path, for: .rmdir)
            switch state.directories[entry.directory].current[entry.name] {
            case nil: throw failure(ENOENT, .rmdir, path)
            case .file?: throw failure(ENOTDIR, .rmdir, path)
            case .directory(let directory)?:
                guard state.directories[directory].current.isEmpty else { throw failure(ENOTEMPTY, .rmdir, path) }
                state.change(source: entry, target: nil, node: .directory(directory))
            }
        }
    }

    override package func rename(_ source: String, to target: String) throws(DiskError) {
        begin(DiskOperation(.rename, source, target: target))
        try guardian.withLock { () throws(DiskError) in
            let from = try entry(at: source, for: .rename)
            let to = try entry(at: target, for: .rename)
            guard let node = state.directories[from.directory].current[from.name] else {
                throw failure(ENOENT, .rename, source)
            }
            guard from != to else { return }
            switch (node, state.directories[to.directory].current[to.name]) {
            case (.file, .directory(let replaced)?):
                throw failure(isInside(from.directory, replaced) ? ENOTEMPTY : EISDIR, .rename, source)
            case (.directory, .file?): throw failure(ENOTDIR, .rename, source)
            case (.directory, .directory(let replaced)?) where !state.directories[replaced].current.isEmpty:
                throw failure(ENOTEMPTY, .rename, source)
            case (.directory(let moved), _) where isInside(to.directory, moved): throw failure(EINVAL, .rename, source)
            default: state.change(source: from, target: to, node: node)
            }
        }
    }

    override package func synchronizeDirectory(_ path: String, site: SyncSite) throws(DiskError) {
        begin(DiskOperation(.synchronizeDirectory, path, site: site))
        try guardian.withLock { () throws(DiskError) in
            let directory = try directory(at: path, for: .open)
            if admits(path, site: site, isDirectory: true) { state.synchronize(directory: directory) }
        }
    }

    override package func identity(of path: String) throws(DiskError) -> FileIdentity {
        try guardian.withLock { () throws(DiskError) in
            var isBlocked = false
            switch state.node(at: path, isBlocked: &isBlocked) {
            case nil: throw failure(isBlocked ? ENOTDIR : ENOENT, .stat, path)
            case .file(let file)?: return FileIdentity(device: 1, inode: UInt64(file) * 2 + 1)
            case .directory(let directory)?: return FileIdentity(device: 1, inode: UInt64(directory) * 2)
            }
        }
    }

    override package func freeByteCount(in directory: String) throws(DiskError) -> UInt64 {
        try guardian.withLock { () throws(DiskError) in
            _ = try self.directory(at: directory, for: .statfs)
            return UInt64(max(0, capacity - state.byteCount))
        }
    }

    /// Each disk that a power loss leaves begins another run.
    override package var systemStart: String? { "start-\(guardian.withLock { state.startCount })" }

    override package func fileSystem(of path: String) throws(DiskError) -> FileSystemKind {
        guardian.withLock { fileSystemKind }
    }

    /// Sets the file system that the disk reports; it is ext4 at first.
    package func pretendToBe(_ kind: FileSystemKind) {
        guardian.withLock { fileSystemKind = kind }
    }

    // MARK: paths

    func makeDurableDirectory(_ path: String) {
        guardian.withLock {
            var directory = 0
            for component in SimulatedState.components(path) {
                let name = String(component)
                if case .directory(let next)? = state.directories[directory].current[name] {
                    directory = next
                    continue
                }
                state.directories.append(SimulatedDirectory())
                let next = state.directories.count - 1
                state.directories[directory].current[name] = .directory(next)
                state.directories[directory].durable[name] = .directory(next)
                directory = next
            }
        }
    }

    func entry(at path: String, for call: SystemCall) throws(DiskError) -> PendingEntryChange.Entry {
        let components = SimulatedState.components(path)
        guard let name = components.last else { throw failure(path.isEmpty ? ENOENT : EISDIR, call, path) }
        if name.utf8.count > 255 { throw failure(ENAMETOOLONG, call, path) }
        var directory = 0
        for component in components.dropLast() {
            switch state.directories[directory].current[String(component)] {
            case nil: throw failure(ENOENT, call, path)
            case .file?: throw failure(ENOTDIR, call, path)
            case .directory(let next)?: directory = next
            }
        }
        return PendingEntryChange.Entry(directory: directory, name: String(name))
    }

    func directory(at path: String, for call: SystemCall) throws(DiskError) -> Int {
        var isBlocked = false
        switch state.node(at: path, isBlocked: &isBlocked) {
        case .directory(let directory)?: return directory
        case .file?: throw failure(ENOTDIR, call, path)
        case nil: throw failure(isBlocked ? ENOTDIR : ENOENT, call, path)
        }
    }

    /// Whether `directory` is `ancestor` or lies inside it.
    func isInside(_ directory: Int, _ ancestor: Int) -> Bool {
        if directory == ancestor { return true }
        for case .directory(let child) in state.directories[ancestor].current.values where isInside(directory, child) {
            return true
        }
        return false
    }

    func failure(_ errorNumber: Int32, _ call: SystemCall, _ path: String) -> DiskError {
        DiskError(errorNumber: errorNumber, systemCall: call, path: path)
    }
}
