import FaultlineDisk
import Glibc
import Synchronization

/// A request to the committer: to write a frame, or only to wait for all earlier requests. Its thread waits for it.
///
/// It has its own semaphore, so that waking one thread wakes no other. It is an object, because each copy of a structure
/// would count a reference for each of its parts.
///
/// Concurrency: the sequencer makes it, then it belongs to the leader until it is done, then to the thread that waits.
// Safe because the outcome is written before the state is released and read after it is acquired.
final class CommitRequest: @unchecked Sendable {
    struct Frame {
        let block: FrameBlock
        let start: Int
        let byteCount: Int
        let segment: ManagedFile
        let offset: UInt64
        /// The end of the disk space that was reserved in the segment when the frame was queued.
        let roomEnd: UInt64
    }

    /// The state that becomes visible with a transaction's last frame.
    struct Visible {
        let sequence: UInt64
        let tables: TableSet
    }

    enum State: UInt8, AtomicRepresentable {
        case waiting, leading, done
    }

    /// A segment in which the log goes on, and the newest transaction before it.
    typealias Next = (segment: ManagedFile, begun: UInt64)

    /// Nil for a wait, and once done.
    @exclusivity(unchecked) private(set) var frame: Frame?
    /// Nil for a part of a transaction, for a wait, and once done.
    @exclusivity(unchecked) private(set) var visible: Visible?
    /// The blob segment whose bytes must be durable before the frame is written; nil for none, and once done.
    @exclusivity(unchecked) private(set) var blobs: BlobSegment?
    /// The offset in that segment behind the blobs of this transaction.
    let blobEnd: UInt64
    /// Segments with uploads that this transaction places, and the writes of each that must be durable before the frame
    /// is written; nil for none, and once done.
    @exclusivity(unchecked) private(set) var uploads: [UploadMark]?
    /// The segment in which the log goes on after all earlier requests; nil for no other, and once done.
    @exclusivity(unchecked) private(set) var next: Next?
    /// Whether the request needs only a commit's own durability, which is none with `.async`.
    let isCommit: Bool

    private let semaphore: UnsafeMutablePointer<sem_t>
    private let state = Atomic<State>(.waiting)
    /// The error of the work; valid once done.
    @exclusivity(unchecked) private(set) var failure: LogError?
    /// The newest readable state; valid once done.
    @exclusivity(unchecked) private var snapshot: Snapshot?
    /// The offset of the next frame, and headCRC of the frame before; valid once done.
    @exclusivity(unchecked) var position: (segment: ManagedFile, offset: UInt64, previousHead: UInt32)?

    init(
        frame: Frame?, visible: Visible?, blobs: BlobSegment? = nil, blobEnd: UInt64 = 0,
        uploads: [UploadMark]? = nil, next: Next? = nil, isCommit: Bool = true
    ) {
        self.next = next
        self.frame = frame
        self.visible = visible
        self.uploads = uploads
        self.blobs = blobs
        self.blobEnd = blobEnd
        self.isCommit = isCommit
        semaphore = BufferMemory.allocate(sem_t.self, capacity: 1)
        semaphore.initialize(to: sem_t())
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        BufferMemory.deallocate(semaphore, capacity: 1)
    }

    /// Whether the outcome is a durable state, and not only bytes in the file.
    var needsSync: Bool { visible != nil || frame == nil }

    var isDone: Bool { state.load(ordering: .acquiring) == .done }

    // MARK: For the thread that waits

    /// Waits until the work is done or this thread is to lead.
    ///
    /// - Returns: True if this thread is to lead.
    func wait() -> Bool {
        while true {
            // A signal interrupts the wait; then the state has not changed.
            sem_wait(semaphore)
            switch state.load(ordering: .acquiring) {
            case .waiting: continue
            case .leading: return true
            case .done: return false
            }
        }
    }

    /// Returns the snapshot and releases it.
    func takeSnapshot() -> Snapshot? { snapshot.take() }

    // MARK: For the leader

    /// Ends the request; it holds no file and no table any more.
    func finish(snapshot: Snapshot?, isWaited: Bool) {
        self.snapshot = snapshot
        end(isWaited: isWaited)
    }

    /// Ends the request with an error.
    func fail(_ error: LogError, isWaited: Bool) {
        failure = error
        end(isWaited: isWaited)
    }

    private func end(isWaited: Bool) {
        frame = nil
        visible = nil
        blobs = nil
        uploads = nil
        next = nil
        state.store(.done, ordering: .releasing)
        if isWaited { sem_post(semaphore) }
    }

    /// Makes the waiting thread the leader.
    func lead() {
        state.store(.leading, ordering: .releasing)
        sem_post(semaphore)
    }
}

/// Writes to a segment of uploads that a commit depends on.
struct UploadMark {
    let segment: BlobSegment
    /// The number of its writes when the headers of the upload were written.
    let writeCount: UInt64
}
