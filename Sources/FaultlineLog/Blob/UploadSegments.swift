import FaultlineDisk
import Synchronization

/// The blob segments that uploads are written to, beside transactions: one upload at a time leases a segment.
///
/// A segment with room is leased again, so many uploads need few files. A segment is sealed when it is full and none of
/// its finished uploads waits for a transaction, and in any case when the store is closed: an upload that was not placed
/// is dead bytes then.
///
/// Invariants:
/// - blobs are placed below the end of their segment, unless an upload is writing behind it.
///
/// Concurrency: `lock` guards everything; `making` is held while a segment is made. Lock order: the checkpointer's lock
/// or the writer lock, `making`, the manifest's. `lock` is the last of all.
// Safe because mutable state is guarded by the lock.
final class UploadSegments: @unchecked Sendable {
    /// The parts of the log that uploads need.
    struct Environment: Sendable {
        /// Makes a segment, durable and listed.
        let makeSegment: @Sendable () throws(LogError) -> BlobSegment
        /// Throws if nothing may be written, or the rest of the disk is for deletes.
        let checkMayWrite: @Sendable () throws(LogError) -> Void
        /// Records that the disk is full.
        let noteFull: @Sendable (LogError) -> Void
        /// Asks for a checkpoint, which frees dead segments.
        let askForCheckpoint: @Sendable () -> Void
    }

    /// Growth and dead bytes of a segment that the account of space lacks.
    struct Change {
        let number: UInt64
        /// The segment's end.
        let end: UInt64
        let deadByteCount: UInt64
    }

    /// A segment at the time of a checkpoint.
    struct Captured {
        let segment: BlobSegment
        /// The end of the last blob that was placed in it; 0 if none was.
        let placedEnd: UInt64
        /// Whether it gets no more bytes, and is to be sealed.
        let isOver: Bool
    }

    private struct Entry {
        let segment: BlobSegment
        var isLeased = true
        /// Finished uploads that a transaction may still place.
        var waitingCount = 0
        var placedEnd: UInt64 = 0
    }

    private let path: String
    private let making = EngineLock()
    private let lock = EngineLock()
    private var entries: [UInt64: Entry] = [:]
    private var changes: [Change] = []
    /// Nil once the store was closed.
    private var environment: Environment?
    /// Bytes after which a segment is leased no more.
    private var segmentByteCount: UInt64
    /// Dead bytes since the last checkpoint.
    private var deadByteCount: UInt64 = 0

    init(path: String, segmentByteCount: UInt64) {
        self.path = path
        self.segmentByteCount = segmentByteCount
    }

    /// Sets the parts of the log; to be called once, before the first upload.
    func begin(with environment: Environment) { lock.withLock { self.environment = environment } }

    // MARK: For uploads

    /// Leases a segment with room; makes one if there is none.
    ///
    /// - Throws: `.closed`, `.poisoned`, `.fullDisk`; disk errors of making a segment.
    func lease() throws(LogError) -> BlobSegment {
        try checkMayWrite()
        if let segment = leaseIdle() { return segment }
        making.lock()
        defer { making.unlock() }
        guard let environment = lock.withLock({ environment }) else { throw .closed(path) }
        let segment = try environment.makeSegment()
        lock.withLock { entries[segment.managed.number] = Entry(segment: segment) }
        return segment
    }

    private func leaseIdle() -> BlobSegment? {
        lock.lock()
        defer { lock.unlock() }
        let idle = entries.filter {
            !$0.value.isLeased && !$0.value.segment.hasFailed && $0.value.segment.end < segmentByteCount
        }
        guard let number = idle.keys.min() else { return nil }
        entries[number]?.isLeased = true
        return entries[number]?.segment
    }

    /// - Throws: `.closed`, `.poisoned`; `.fullDisk` if the rest of the disk is for deletes.
    func checkMayWrite() throws(LogError) {
        guard let environment = lock.withLock({ environment }) else { throw .closed(path) }
        try environment.checkMayWrite()
    }

    /// Records the error of an upload.
    func note(_ error: LogError) {
        guard error.code == .fullDisk, let environment = lock.withLock({ environment }) else { return }
        environment.noteFull(error)
    }

    /// Takes a segment back from an upload that wrote a whole value.
    ///
    /// - Throws: `.closed`.
    func giveBack(_ segment: BlobSegment, with body: BlobBody) throws(LogError) -> FinishedUpload {
        lock.lock()
        defer { lock.unlock() }
        guard environment != nil else { throw .closed(path) }
        let number = segment.managed.number
        entries[number]?.isLeased = false
        entries[number]?.waitingCount += 1
        changes.append(Change(number: number, end: segment.end, deadByteCount: 0))
        return FinishedUpload(body, in: segment, of: self)
    }

    /// Takes a segment back from an upload that was given up.
    func giveBack(_ segment: BlobSegment, deadByteCount: UInt64) {
        lock.lock()
        entries[segment.managed.number]?.isLeased = false
        noteDead(deadByteCount, in: segment)
        askAndUnlock()
    }

    /// Counts the bytes of a finished upload as dead, because no transaction can place it any more.
    func drop(_ segment: BlobSegment, byteCount: UInt64) {
        lock.lock()
        entries[segment.managed.number]?.waitingCount -= 1
        noteDead(byteCount, in: segment)
        askAndUnlock()
    }

    private func noteDead(_ byteCount: UInt64, in segment: BlobSegment) {
        guard entries[segment.managed.number] != nil else { return }
        deadByteCount += byteCount
        // The end of a leased segment belongs to the upload.
        let isLeased = entries[segment.managed.number]?.isLeased == true
        changes.append(
            Change(number: segment.managed.number, end: isLeased ? 0 : segment.end, deadByteCount: byteCount))
    }

    /// Releases the lock, and asks for a checkpoint if a segment's worth of bytes is dead.
    private func askAndUnlock() {
        let asked = deadByteCount >= segmentByteCount ? environment : nil
        if asked != nil { deadByteCount = 0 }
        lock.unlock()
        asked?.askForCheckpoint()
    }

    // MARK: For transactions

    /// Lets the current transaction place an upload: it is to write the headers.
    ///
    /// - Returns: False if another transaction got that right before, or the segment gets no more bytes: then the
    ///   value must be copied.
    func claim(_ upload: FinishedUpload) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        let number = upload.segment.managed.number
        guard environment != nil, var entry = entries[number], !entry.segment.hasFailed, upload.claim(by: self) else {
            return false
        }
        entry.waitingCount -= 1
        entry.placedEnd = max(entry.placedEnd, upload.body.end)
        entries[number] = entry
        return true
    }

    // MARK: For the log

    /// Growth and dead bytes since the last call; the caller must hold the writer lock.
    func takeChanges() -> [Change] {
        lock.lock()
        defer { lock.unlock() }
        guard !changes.isEmpty else { return [] }
        let taken = changes
        changes = []
        return taken
    }

    /// The segments at the time of a checkpoint, whose caller must hold the writer lock: those that are over are
    /// removed.
    ///
    /// - Parameter segmentByteCount: Bytes after which a segment is leased no more.
    /// - Returns: All of them, in the order of their numbers.
    func capture(segmentByteCount: UInt64) -> [Captured] {
        lock.lock()
        defer { lock.unlock() }
        self.segmentByteCount = segmentByteCount
        deadByteCount = 0
        var captured: [Captured] = []
        for (number, entry) in entries.sorted(by: { $0.key < $1.key }) {
            let isOver =
                environment == nil
                || !entry.isLeased && entry.waitingCount == 0
                    && (entry.segment.hasFailed || entry.segment.end >= segmentByteCount)
            captured.append(Captured(segment: entry.segment, placedEnd: entry.placedEnd, isOver: isOver))
            if isOver { entries[number] = nil }
        }
        return captured
    }

    /// Whether a blob segment is one of these.
    func isOwn(_ number: UInt64) -> Bool { lock.withLock { entries[number] != nil } }

    /// Checks the invariants that the type's comment lists; the caller must hold the writer lock.
    func checkInvariants() throws(BrokenInvariant) {
        lock.lock()
        defer { lock.unlock() }
        for (number, entry) in entries {
            guard entry.waitingCount >= 0, entry.isLeased || entry.placedEnd <= entry.segment.end else {
                throw BrokenInvariant(
                    "UploadSegments",
                    "blobs are placed below the end of their segment, unless an upload is writing behind it",
                    "segment \(number) has \(entry.waitingCount) uploads that wait, and blobs up to \(entry.placedEnd)")
            }
        }
    }

    /// Ends all uploads: when this returns none writes any more, and none can be placed.
    func shut() {
        making.lock()
        defer { making.unlock() }
        lock.lock()
        environment = nil
        let segments = entries.values.map(\.segment)
        lock.unlock()
        for segment in segments {
            segment.use.lock()
            segment.isShut = true
            segment.skipGivenUpBytes()
            let end = segment.end
            segment.use.unlock()
            lock.withLock { changes.append(Change(number: segment.managed.number, end: end, deadByteCount: 0)) }
        }
    }
}
