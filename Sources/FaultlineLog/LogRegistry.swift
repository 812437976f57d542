import FaultlineDisk

/// The logs that are open in this process, so that opening a store again returns the same one.
///
/// The identity of its directory identifies a store. Each disk other than the real one counts as a separate file
/// system.
// Safe because mutable state is guarded by the lock, and an entry's log by the entry's lock.
final class LogRegistry: @unchecked Sendable {
    static let shared = LogRegistry()

    fileprivate struct Key: Equatable {
        let disk: ObjectIdentifier?
        let directory: FileIdentity
        let isReading: Bool
    }

    /// The entry of one store.
    ///
    /// Its lock is held while the store is opened or closed.
    // Safe because the log is guarded by the lock, and the count of users by the registry's.
    final class Entry: @unchecked Sendable {
        let lock = EngineLock()
        weak var log: Log?
        var openCount = 0
        fileprivate let key: Key
        fileprivate var userCount = 0
        fileprivate init(key: Key) { self.key = key }
    }

    private let lock = EngineLock()
    /// One for each key; few stores are open at once.
    private var entries: [Entry] = []

    /// Calls `body` with the entry of the store in a directory; the entry exists while it is in use or the log is open.
    func withEntry<R>(
        of directory: FileIdentity, on disk: Disk, access: LogAccess, _ body: (Entry) throws(LogError) -> R
    ) throws(LogError) -> R {
        let key = Key(
            disk: disk is PosixDisk ? nil : ObjectIdentifier(disk), directory: directory, isReading: access == .reading)
        lock.lock()
        let known = entries.first { $0.key == key }
        let entry = known ?? Entry(key: key)
        if known == nil { entries.append(entry) }
        entry.userCount += 1
        lock.unlock()
        defer { leave(entry) }
        entry.lock.lock()
        defer { entry.lock.unlock() }
        return try body(entry)
    }

    /// Calls `body` with the lock of a log's entry held.
    func withEntry<R>(_ entry: Entry, _ body: () throws(LogError) -> R) throws(LogError) -> R {
        lock.lock()
        entry.userCount += 1
        lock.unlock()
        defer { leave(entry) }
        entry.lock.lock()
        defer { entry.lock.unlock() }
        return try body()
    }

    private func leave(_ entry: Entry) {
        lock.lock()
        defer { lock.unlock() }
        entry.userCount -= 1
        if entry.userCount == 0, entry.log == nil { entries.removeAll { $0 === entry } }
    }
}
