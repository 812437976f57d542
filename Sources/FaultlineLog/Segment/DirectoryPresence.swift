import FaultlineDisk

/// Checks that an open store is still at its path.
///
/// The log holds LOCK open, so no other file can get LOCK's identity. A path where LOCK is missing, or is another file,
/// leads to another store or to none: the directory was removed, moved or replaced.
///
/// Concurrency: guarded by its lock, under which no other is taken.
// Safe because mutable state is guarded by the lock.
final class DirectoryPresence: @unchecked Sendable {
    private let disk: Disk
    private let path: String
    private let lockPath: String
    private let lock = EngineLock()
    private var expected: FileIdentity?
    private var report: (@Sendable (LogError) -> Void)?

    init(_ path: String, on disk: Disk) {
        self.disk = disk
        self.path = path
        lockPath = path + "/" + FileName.lock
    }

    /// Sets the identity that LOCK must have from now on.
    ///
    /// Without it every check succeeds.
    ///
    /// - Parameters:
    ///   - identity: Identity of the LOCK file that the log holds open.
    ///   - report: Called with each error that a check throws.
    func expect(_ identity: FileIdentity?, report: @escaping @Sendable (LogError) -> Void) {
        lock.lock()
        defer { lock.unlock() }
        expected = identity
        self.report = report
    }

    /// Checks that the path still leads to the store.
    ///
    /// If the system does not answer, for lack of permission for example, the check succeeds.
    ///
    /// - Throws: `.removed`.
    /// - Complexity: One system call, `stat`.
    func check() throws(LogError) {
        lock.lock()
        let expected = expected
        let report = report
        lock.unlock()
        guard let expected else { return }
        do throws(DiskError) {
            if try disk.identity(of: lockPath) == expected { return }
        } catch {
            guard error.code == .notFound || error.code == .notDirectory else { return }
        }
        let error = LogError(
            .removed,
            "The store is no longer at this path: its directory or its LOCK file was removed, moved or replaced while "
                + "the store was open, so nothing more is written. Put the directory back, or restore the store from "
                + "a backup, then open it again.",
            path: path)
        report?(error)
        throw error
    }
}
