import FaultlineDisk

/// The store's policy for a full disk: it reserves some space for work that makes room again.
///
/// The file BALLAST does nothing but take space. It is removed when a full disk stops a transaction that deletes, a
/// checkpoint that frees files after deletes, or the opening of the store. From then on, and while a checkpoint that
/// memory needs finds no space, other transactions are refused: the rest of the disk is for deletes, and for those
/// checkpoints.
///
/// Stores of less than 64 MiB have no ballast, and a store that has shrunk below that refuses nothing because of it.
///
/// Concurrency: guarded by its lock; lock order: writer lock, this.
// Safe because mutable state is guarded by the lock.
final class DiskSpace: @unchecked Sendable {
    private let directory: StoreDirectory
    private let options: LogOptions
    private let lock = EngineLock()
    private var hasBallast = false
    private var wasGivenUp = false
    /// Free bytes before the last checkpoint that found too few; nil if none is waiting.
    private var freeAtRefusal: UInt64?

    init(_ directory: StoreDirectory, _ options: LogOptions) {
        self.directory = directory
        self.options = options
    }

    /// Whether only deletes may use the rest of the disk; checks first whether there is space again.
    func isForDeletesOnly() -> Bool {
        lock.lock()
        defer { lock.unlock() }
        if freeAtRefusal != nil { return true }
        if wasGivenUp { restore() }
        return wasGivenUp
    }

    // MARK: Ballast

    /// Removes the ballast.
    ///
    /// - Returns: Whether that made room.
    func giveUp() -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard Self.removeBallast(in: directory.path, on: directory.disk) else { return false }
        hasBallast = false
        wasGivenUp = true
        return true
    }

    /// Removes the ballast of a store that cannot be opened for lack of space.
    ///
    /// - Returns: Whether that made room.
    static func removeBallast(in directory: String, on disk: Disk) -> Bool {
        do throws(DiskError) {
            try disk.remove(directory + "/" + FileName.ballast)
            return true
        } catch {
            return false
        }
    }

    /// Creates the ballast if the store is large enough.
    ///
    /// - Parameters:
    ///   - storeByteCount: Bytes of its segments.
    ///   - isOpening: Whether the store is being opened: a large one without space counts as having removed its
    ///     ballast.
    func holdBack(storeByteCount: UInt64, isOpening: Bool = false) {
        lock.lock()
        defer { lock.unlock() }
        guard storeByteCount >= UInt64(options.ballastStoreByteCount) else {
            wasGivenUp = false
            return
        }
        restore()
        if isOpening { wasGivenUp = !hasBallast }
    }

    /// Creates the ballast if twice its size is free.
    ///
    /// A failure is no error: a store without ballast works.
    private func restore() {
        guard !hasBallast else { return }
        let path = directory.path(of: FileName.ballast)
        let disk = directory.disk
        do throws(DiskError) {
            let isPresent = try disk.isPresent(path)
            let needed = UInt64(options.ballastByteCount) * (isPresent ? 1 : 2)
            guard try disk.freeByteCount(in: directory.path) >= needed else { return }
            let file = try disk.open(path, for: isPresent ? .updating : .creating)
            defer { file.close() }
            try file.reserve(from: 0, through: UInt64(options.ballastByteCount))
            hasBallast = true
            wasGivenUp = false
        } catch {
            _ = Self.removeBallast(in: directory.path, on: disk)
        }
    }

    // MARK: Checkpoints

    /// Whether transactions wait for a checkpoint that found no space.
    var isCheckpointRefused: Bool { lock.withLock { freeAtRefusal != nil } }

    /// Whether a checkpoint may find space: none was refused, or there is more since.
    var mayCheckpoint: Bool {
        lock.lock()
        defer { lock.unlock() }
        guard let freeAtRefusal else { return true }
        return freeByteCount.map { $0 > freeAtRefusal } ?? true
    }

    /// Free bytes of the disk; nil if the disk does not report them.
    var freeByteCount: UInt64? {
        do throws(DiskError) {
            return try directory.disk.freeByteCount(in: directory.path)
        } catch {
            return nil
        }
    }

    /// Records that a checkpoint was made.
    func noteCheckpoint() { lock.withLock { freeAtRefusal = nil } }

    /// Records that a checkpoint that memory needs found no space.
    ///
    /// - Parameter free: Free bytes before the attempt: bytes freed during it are a reason to try again.
    func noteRefusedCheckpoint(free: UInt64?) { lock.withLock { freeAtRefusal = free ?? 0 } }
}
