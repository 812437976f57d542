package import FaultlineDisk

/// Passes calls to another disk and counts them: calls, whether they succeed or not, and bytes really moved.
// Safe because all changing state is protected by `guardian`.
package final class CountingDisk: ForwardingDisk, @unchecked Sendable {
    private let guardian = EngineLock()
    private var total = DiskCounts()
    private var totals: [String: DiskCounts] = [:]

    /// The counts since the disk was created or reset.
    package var counts: DiskCounts { guardian.withLock { total } }

    /// The counts of files opened by one path, and of calls on it.
    package func counts(of path: String) -> DiskCounts { guardian.withLock { totals[path] ?? DiskCounts() } }

    /// Resets the counts to zero.
    package func reset() {
        guardian.withLock {
            total = DiskCounts()
            totals = [:]
        }
    }

    /// Runs `body` and returns the counts of that time.
    package func counting<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> (result: R, counts: DiskCounts) {
        let before = counts
        let result = try body()
        return (result, counts - before)
    }

    func count(_ path: String, _ change: (inout DiskCounts) -> Void) {
        guardian.withLock {
            change(&total)
            change(&totals[path, default: DiskCounts()])
        }
    }

    override package func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
        count(path) { $0.opens += 1 }
        return CountingDiskFile(over: try base.open(path, for: access), of: self)
    }

    override package func names(in directory: String) throws(DiskError) -> [String] {
        count(directory) { $0.questions += 1 }
        return try base.names(in: directory)
    }

    override package func isPresent(_ path: String) throws(DiskError) -> Bool {
        count(path) { $0.questions += 1 }
        return try base.isPresent(path)
    }

    override package func createDirectory(_ path: String) throws(DiskError) {
        count(path) { $0.entryChanges += 1 }
        try base.createDirectory(path)
    }

    override package func remove(_ path: String) throws(DiskError) {
        count(path) { $0.entryChanges += 1 }
        try base.remove(path)
    }

    override package func removeDirectory(_ path: String) throws(DiskError) {
        count(path) { $0.entryChanges += 1 }
        try base.removeDirectory(path)
    }

    override package func rename(_ source: String, to target: String) throws(DiskError) {
        count(source) { $0.entryChanges += 1 }
        try base.rename(source, to: target)
    }

    override package func synchronizeDirectory(_ path: String, site: SyncSite) throws(DiskError) {
        count(path) { $0.directorySynchronizations += 1 }
        try base.synchronizeDirectory(path, site: site)
    }

    override package func identity(of path: String) throws(DiskError) -> FileIdentity {
        count(path) { $0.questions += 1 }
        return try base.identity(of: path)
    }

    override package func freeByteCount(in directory: String) throws(DiskError) -> UInt64 {
        count(directory) { $0.questions += 1 }
        return try base.freeByteCount(in: directory)
    }

    override package func fileSystem(of path: String) throws(DiskError) -> FileSystemKind {
        count(path) { $0.questions += 1 }
        return try base.fileSystem(of: path)
    }
}
