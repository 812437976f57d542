internal import CFaultline

/// The files of one owner that may rest, because only this process removes them, each after its last use.
///
/// A child made by `fork` lets none of them rest: its parent may remove them.
// Safe because the mutable state is guarded by the lock of all tables.
package final class RestingFiles: @unchecked Sendable {
    private let forkCount = fl_fork_count()
    private var members: [ObjectIdentifier: PosixDescriptor] = [:]
    private var hasEnded = false

    package init() {}

    /// Keeps the files open from now on: another process may remove them.
    ///
    /// Those that rest are opened while the process has fewer files open than twice its limit and half of the system's.
    /// The others are opened by their next read, which throws `.gone` if they were removed.
    package func end() {
        let resting = OpenFiles.withLock {
            let isOwn = isInForce
            hasEnded = true
            defer { members = [:] }
            for member in members.values { member.table.keepOpen(member) }
            return isOwn ? members.values.filter { $0.number < 0 } : []
        }
        for member in resting {
            guard member.table.hasRoomForSnapshots else { return }
            do throws(DiskError) { try member.withNumber { _ in } } catch { continue }
        }
    }

    // MARK: Under the lock

    /// Whether members may be closed, and files become members.
    var isInForce: Bool { !hasEnded && forkCount == fl_fork_count() }

    func add(_ descriptor: PosixDescriptor) { members[ObjectIdentifier(descriptor)] = descriptor }

    func remove(_ descriptor: PosixDescriptor) { members[ObjectIdentifier(descriptor)] = nil }
}
