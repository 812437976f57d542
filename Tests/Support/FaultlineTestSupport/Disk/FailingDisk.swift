package import FaultlineDisk

/// Passes calls to another disk, and fails some of them on request.
///
/// To fail every call once: arm the n-th fault, run, and stop when `hitCount` stays 0.
// Safe because all changing state is protected by `guardian`.
package final class FailingDisk: ForwardingDisk, @unchecked Sendable {
    private let guardian = EngineLock()
    private var fault: DiskFault?
    private var matched = 0
    private var hits: [DiskOperation] = []

    /// Sets a fault, replacing the previous one, and restarts the counts.
    package func arm(_ fault: DiskFault) {
        guardian.withLock {
            self.fault = fault
            matched = 0
            hits = []
        }
    }

    /// Removes the fault; the counts stay.
    package func disarm() {
        guardian.withLock { fault = nil }
    }

    /// Operations that matched since `arm`, failed or not.
    package var matchCount: Int { guardian.withLock { matched } }

    /// Operations that failed since `arm`.
    package var hitCount: Int { guardian.withLock { hits.count } }

    /// The operations that failed since `arm`, in order.
    package var failedOperations: [DiskOperation] { guardian.withLock { hits } }

    /// Counts an operation; returns the fault if it must fail.
    func hit(_ operation: DiskOperation) -> (effect: DiskFault.Effect, error: DiskError)? {
        // Tested without the lock: a test may delay one operation while others continue.
        guard let armed = guardian.withLock({ fault }), armed.matches(operation) else { return nil }
        return guardian.withLock {
            guard let fault else { return nil }
            let ordinal = matched
            matched += 1
            guard ordinal == fault.ordinal || (fault.isSticky && ordinal > fault.ordinal) else { return nil }
            hits.append(operation)
            let error = DiskError(
                errorNumber: fault.errorNumber, systemCall: operation.kind.systemCall, path: operation.path,
                offset: operation.offset)
            return (fault.effect, error)
        }
    }

    /// Makes the call, or fails it.
    func run<R>(_ operation: DiskOperation, _ call: () throws(DiskError) -> R) throws(DiskError) -> R {
        guard let (effect, error) = hit(operation) else { return try call() }
        if case .takesPlace = effect { _ = try call() }
        throw error
    }

    override package func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
        let file = try run(DiskOperation(access == .creating ? .create : .open, path)) { () throws(DiskError) in
            try base.open(path, for: access)
        }
        return FailingDiskFile(over: file, of: self)
    }

    override package func names(in directory: String) throws(DiskError) -> [String] {
        try run(DiskOperation(.names, directory)) { () throws(DiskError) in try base.names(in: directory) }
    }

    override package func isPresent(_ path: String) throws(DiskError) -> Bool {
        try run(DiskOperation(.isPresent, path)) { () throws(DiskError) in try base.isPresent(path) }
    }

    override package func createDirectory(_ path: String) throws(DiskError) {
        try run(DiskOperation(.createDirectory, path)) { () throws(DiskError) in try base.createDirectory(path) }
    }

    override package func remove(_ path: String) throws(DiskError) {
        try run(DiskOperation(.remove, path)) { () throws(DiskError) in try base.remove(path) }
    }

    override package func removeDirectory(_ path: String) throws(DiskError) {
        try run(DiskOperation(.removeDirectory, path)) { () throws(DiskError) in try base.removeDirectory(path) }
    }

    override package func rename(_ source: String, to target: String) throws(DiskError) {
        try run(DiskOperation(.rename, source, target: target)) { () throws(DiskError) in
            try base.rename(source, to: target)
        }
    }

    override package func synchronizeDirectory(_ path: String, site: SyncSite) throws(DiskError) {
        try run(DiskOperation(.synchronizeDirectory, path, site: site)) { () throws(DiskError) in
            try base.synchronizeDirectory(path, site: site)
        }
    }

    override package func identity(of path: String) throws(DiskError) -> FileIdentity {
        try run(DiskOperation(.identity, path)) { () throws(DiskError) in try base.identity(of: path) }
    }

    override package func freeByteCount(in directory: String) throws(DiskError) -> UInt64 {
        try run(DiskOperation(.freeByteCount, directory)) { () throws(DiskError) in
            try base.freeByteCount(in: directory)
        }
    }

    override package func fileSystem(of path: String) throws(DiskError) -> FileSystemKind {
        try run(DiskOperation(.fileSystem, path)) { () throws(DiskError) in try base.fileSystem(of: path) }
    }
}
