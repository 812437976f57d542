import FaultlineDisk
import Synchronization

/// A disk that simulates the kill of its process.
///
/// After a number of changes, it makes no others.
///
/// If the change at which it stops is a write of more than one byte, half of it is made.
// Safe because the changing state is protected by a lock.
final class StoppingDisk: ForwardingDisk, @unchecked Sendable {
    private let limit: Int
    private let changes = Guarded(0)

    /// - Parameter limit: The number of changes that are made completely.
    init(after limit: Int) {
        self.limit = limit
        super.init(over: PosixDisk())
    }

    /// Requested changes, up to the one at which it stopped.
    var changeCount: Int { changes.withLock { $0 } }
    /// Whether it has stopped.
    var hasStopped: Bool { changeCount > limit }

    /// The result of a change.
    enum Fate { case made, madeByHalf, refused }

    /// Counts a change.
    func fate() -> Fate {
        changes.withLock { count in
            if count > limit { return .refused }
            count += 1
            return count > limit ? .madeByHalf : .made
        }
    }

    /// Makes a change, unless the process has been killed by then.
    func change<R>(
        _ call: SystemCall, _ path: String, _ body: () throws(DiskError) -> R
    ) throws(DiskError) -> R {
        guard fate() == .made else { throw Self.refusal(call, path) }
        return try body()
    }

    /// The error of a refused call, which the killed process does not read.
    static func refusal(_ call: SystemCall, _ path: String) -> DiskError {
        DiskError(code: .ioFailure, systemCall: call, path: path)
    }

    override func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
        guard access == .creating else { return StoppingDiskFile(over: try base.open(path, for: access), of: self) }
        let file = try change(.open, path) { () throws(DiskError) in try base.open(path, for: access) }
        return StoppingDiskFile(over: file, of: self)
    }

    override func createDirectory(_ path: String) throws(DiskError) {
        try change(.mkdir, path) { () throws(DiskError) in try base.createDirectory(path) }
    }

    override func remove(_ path: String) throws(DiskError) {
        try change(.unlink, path) { () throws(DiskError) in try base.remove(path) }
    }

    override func removeDirectory(_ path: String) throws(DiskError) {
        try change(.rmdir, path) { () throws(DiskError) in try base.removeDirectory(path) }
    }

    override func rename(_ source: String, to target: String) throws(DiskError) {
        try change(.rename, source) { () throws(DiskError) in try base.rename(source, to: target) }
    }

    override func synchronizeDirectory(_ path: String, site: SyncSite) throws(DiskError) {
        if hasStopped { throw Self.refusal(.fsync, path) }
        try base.synchronizeDirectory(path, site: site)
    }
}
