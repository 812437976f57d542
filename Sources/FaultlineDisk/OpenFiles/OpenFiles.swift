internal import CFaultline
import Glibc

/// The table of the files of stores that a process has open, with a limit that all its stores share.
///
/// Above the limit, files that may rest are closed while no call uses them, in about the order of their last use: a
/// clock gives each one that was used since its last pass a second chance. All other files stay open and count. If they
/// leave less than a quarter of the limit, the files that may rest get that quarter nevertheless: reading would else
/// open and close a file each time.
///
/// Concurrency: guarded by one lock for all tables, under which no file is opened or closed and no other lock taken.
// Safe because mutable state is guarded by the lock.
package final class OpenFiles: @unchecked Sendable {
    /// The table of the process.
    package static let shared = OpenFiles()

    package static let limitMin = 16
    /// Files that are closed if the system refuses another one; twice as many each further time.
    private static let refusalCount = 8
    private static let attemptCountMax = 8

    private let openReading: @Sendable (String) -> Int32
    /// The limit that was set; nil for a quarter of the system's.
    private var chosenLimit: Int?
    /// The system's soft limit when a file was opened last.
    private var systemLimit = OpenFiles.softLimit
    private var openCount = 0
    private var lockCount = 0
    private var restingCount = 0
    /// The open files that may rest.
    private var candidates: [PosixDescriptor] = []
    /// The index of the candidate that the clock looks at next.
    private var hand = 0
    /// Numbers to be closed once the lock is free.
    private var released: [Int32] = []
    private var hasReportedExcess = false
    private var forkCount = fl_fork_count()

    /// Makes a table.
    ///
    /// - Parameters:
    ///   - limit: The limit; nil for a quarter of the system's.
    ///   - openReading: Opens a file again and returns its number, or a negated `errno`; for tests.
    package init(
        limit: Int? = nil,
        openReading: @escaping @Sendable (String) -> Int32 = { fl_open($0, Int32(FL_ACCESS_READING.rawValue)) }
    ) {
        chosenLimit = limit.map { max($0, Self.limitMin) }
        self.openReading = openReading
    }

    // MARK: The limit

    /// The number of files that are kept open: the one that was set, at least 16, or a quarter of the soft limit that the
    /// process has at the moment.
    package var limit: Int {
        get {
            whileLocked {
                systemLimit = Self.softLimit
                return currentLimit
            }
        }
        set {
            whileLocked {
                chosenLimit = max(newValue, Self.limitMin)
                hasReportedExcess = false
                closeIdle(downTo: room(in: currentLimit))
            }
        }
    }

    /// The open files.
    package var count: OpenFileCount {
        whileLocked {
            var count = OpenFileCount(limit: currentLimit)
            (count.open, count.locks, count.resting) = (openCount, lockCount, restingCount)
            return count
        }
    }

    /// The open files, if those that stay open have come to leave less than a quarter of the limit; once, until they
    /// leave half of it again or the limit is set.
    package func takeExcess() -> OpenFileCount? {
        let count = count
        return whileLocked {
            let stayingCount = openCount - candidates.count
            if stayingCount <= count.limit / 2 { hasReportedExcess = false }
            guard stayingCount > count.limit - count.limit / 4, !hasReportedExcess else { return nil }
            hasReportedExcess = true
            return count
        }
    }

    /// Whether another file may be opened only for snapshots that may outlive their store: below twice the limit and half of
    /// the system's.
    var hasRoomForSnapshots: Bool { whileLocked { openCount < min(currentLimit * 2, systemLimit / 2) } }

    private var currentLimit: Int { chosenLimit ?? max(systemLimit / 4, Self.limitMin) }

    private static var softLimit: Int {
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return 1_024 }
        return Int(min(limits.rlim_cur, 1 << 20))
    }

    /// The number of files that may rest and be open.
    private func room(in limit: Int) -> Int { max(limit - (openCount - candidates.count), limit / 4) }

    // MARK: Opening and closing

    /// Opens a file or directory, and closes others above the limit or as the system demands it.
    func opening<R>(_ open: () throws(DiskError) -> R) throws(DiskError) -> R {
        whileLocked {
            systemLimit = Self.softLimit
            closeIdle(downTo: room(in: currentLimit) - 1)
        }
        var attemptCount = 0
        while true {
            do throws(DiskError) { return try open() } catch {
                guard error.code == .tooManyOpenFiles else { throw error }
                let closedCount = Self.refusalCount << attemptCount
                let hasClosed = whileLocked { closeIdle(downTo: max(candidates.count - closedCount, 0)) }
                guard hasClosed, attemptCount < Self.attemptCountMax else { throw error.counting(count) }
                attemptCount += 1
            }
        }
    }

    func noteOpened() { whileLocked { openCount += 1 } }

    /// Opens a file that rests; returns -1 if it was closed.
    ///
    /// - Throws: `.gone` if its path leads to another file or to none; errors of opening.
    @inline(never)
    func openAgain(_ descriptor: PosixDescriptor) throws(DiskError) -> Int32 {
        let (present, file) = whileLocked { (descriptor.number, descriptor.isClosed ? nil : descriptor.file) }
        guard present < 0, let file else { return present }
        let path = descriptor.path
        let fresh = try opening { () throws(DiskError) in
            let fresh = Transfer.uninterrupted { openReading(path) }
            if fresh >= 0 { return fresh }
            if fresh == -ENOENT || fresh == -ENOTDIR {
                throw DiskError(code: .gone, systemCall: .open, errorNumber: -fresh, path: path)
            }
            throw DiskError(errorNumber: -fresh, systemCall: .open, path: path)
        }
        guard let found = OpenedFile(fresh), found == file else {
            _ = fl_close(fresh)
            throw DiskError(code: .gone, systemCall: .open, path: path)
        }
        return whileLocked {
            let present = descriptor.number
            guard present < 0, !descriptor.isClosed else {
                // Another thread was faster.
                released.append(fresh)
                return present
            }
            descriptor.setNumber(fresh)
            openCount += 1
            restingCount -= 1
            addCandidate(descriptor)
            return fresh
        }
    }

    func letRest(_ descriptor: PosixDescriptor, _ file: OpenedFile, with group: RestingFiles) {
        whileLocked {
            guard !descriptor.isClosed, descriptor.group == nil, !descriptor.isLock, group.isInForce else { return }
            descriptor.file = file
            descriptor.group = group
            group.add(descriptor)
            addCandidate(descriptor)
            closeIdle(downTo: room(in: currentLimit))
        }
    }

    func noteLock(_ descriptor: PosixDescriptor) {
        whileLocked {
            guard !descriptor.isLock, !descriptor.isClosed else { return }
            descriptor.isLock = true
            lockCount += 1
        }
    }

    func close(_ descriptor: PosixDescriptor) {
        whileLocked {
            guard !descriptor.isClosed else { return }
            descriptor.isClosed = true
            removeCandidate(descriptor)
            descriptor.group?.remove(descriptor)
            descriptor.group = nil
            if descriptor.isLock { lockCount -= 1 }
            if let number = descriptor.takeNumber() {
                openCount -= 1
                released.append(number)
            } else {
                restingCount -= 1
            }
        }
    }

    // MARK: The lock

    /// Runs `body` under the lock of all tables.
    static func withLock<R>(_ body: () -> R) -> R {
        fl_open_files_lock()
        defer { fl_open_files_unlock() }
        return body()
    }

    /// Runs `body` under the lock, then closes the files that it released.
    @discardableResult
    private func whileLocked<R>(_ body: () -> R) -> R {
        var numbers: [Int32] = []
        let result = Self.withLock {
            noteFork()
            defer { swap(&numbers, &released) }
            return body()
        }
        // Linux releases the number even if `close` fails. Its error concerns only bytes that were not synchronized,
        // which were never promised; a file that rests has none.
        for number in numbers { _ = fl_close(number) }
        return result
    }

    /// In a child made by `fork`, keeps the parent's files open.
    private func noteFork() {
        guard forkCount != fl_fork_count() else { return }
        forkCount = fl_fork_count()
        for candidate in candidates { candidate.index = nil }
        candidates = []
    }

    // MARK: Files that may rest, under the lock

    /// Keeps a file open, once it is open.
    func keepOpen(_ descriptor: PosixDescriptor) {
        removeCandidate(descriptor)
        descriptor.group = nil
    }

    /// Closes files that may rest until only `countMax` of them are open, or none is idle; returns whether it closed
    /// any.
    @discardableResult
    private func closeIdle(downTo countMax: Int) -> Bool {
        let before = candidates.count
        // The first round takes the marks of use away.
        var stepCount = candidates.count * 2
        while candidates.count > countMax, stepCount > 0 {
            stepCount -= 1
            if hand >= candidates.count { hand = 0 }
            let candidate = candidates[hand]
            guard !candidate.takeUse(), let number = candidate.takeNumberIfIdle() else {
                hand += 1
                continue
            }
            removeCandidate(candidate)
            openCount -= 1
            restingCount += 1
            released.append(number)
        }
        return candidates.count < before
    }

    private func addCandidate(_ descriptor: PosixDescriptor) {
        guard descriptor.index == nil, descriptor.group?.isInForce == true else { return }
        descriptor.index = candidates.count
        candidates.append(descriptor)
    }

    private func removeCandidate(_ descriptor: PosixDescriptor) {
        guard let index = descriptor.index else { return }
        descriptor.index = nil
        let last = candidates.removeLast()
        guard index < candidates.count else { return }
        candidates[index] = last
        last.index = index
    }
}
