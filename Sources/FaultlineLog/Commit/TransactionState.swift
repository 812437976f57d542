/// The transaction that holds the writer lock.
struct TransactionState {
    /// Whether there is one.
    private(set) var isOpen = false
    /// Whether it moves records, so that files can go.
    private(set) var isCompacting = false
    /// Frames that it has closed.
    var part: UInt32 = 0
    /// Where its first frame lies.
    private(set) var firstSegment: UInt64 = 0
    private(set) var firstOffset: UInt64 = 0
    var recordCount: UInt32 = 0
    var firstVersionCount: UInt32 = 0
    var laterVersionCount: UInt32 = 0
    var deleteCount: UInt32 = 0
    var dropsTable = false
    var usesBlobs = false
    /// The segments with uploads that it places; nil if it places none.
    private(set) var uploads: [UploadMark]?
    /// Whether it counts as one that needs room, even if it deletes.
    var leavesReserve = false
    /// Bytes that it has written to the log, by segment.
    var partialFrames: [(segment: UInt32, byteCount: UInt64)] = []
    /// Bytes of blobs that it has written and counted, by segment.
    var writtenBlobs: [(segment: UInt32, byteCount: UInt64)] = []
    /// Runs with its entries, newest first, and how often each was merged.
    var spilledRuns: [IndexID: [(run: Run, rank: UInt16)]] = [:]
    /// The first error after which it cannot be completed.
    private(set) var failure: LogError?
    private(set) var isAbandoned = false
    /// Bytes of changed pages that its last spill could not store.
    var pinnedByteCount = 0

    mutating func begin(isCompacting: Bool) {
        self = TransactionState()
        isOpen = true
        self.isCompacting = isCompacting
    }

    mutating func end() { isOpen = false }

    mutating func abandon() { isAbandoned = true }

    /// Records an error after which the transaction cannot be completed, even if its body hides it.
    mutating func fail(_ error: LogError) {
        if failure == nil { failure = error }
    }

    /// Records that it has placed an upload, whose headers are written.
    mutating func noteUpload(in segment: BlobSegment) {
        var marks = uploads ?? []
        marks.removeAll { $0.segment === segment }
        marks.append(UploadMark(segment: segment, writeCount: segment.writeCount))
        uploads = marks
    }

    /// Records the place of a frame that is begun.
    mutating func beginFrame(at place: FrameWriter.Place) {
        guard part == 0 else { return }
        firstSegment = place.segment.number
        firstOffset = place.offset
    }

    /// Whether it has deleted something.
    var hasDeleted: Bool { deleteCount > 0 || dropsTable }

    /// Whether it so far only deletes objects and creates none, or compacts.
    var isMakingRoom: Bool { isCompacting || hasDeleted && firstVersionCount == 0 && !leavesReserve }

    /// Counts the bytes of a frame that is written before the transaction's end.
    mutating func notePartial(_ frame: CommitRequest.Frame) {
        // Its header is counted like that of every frame.
        let byteCount = UInt64(frame.byteCount - FrameHeader.byteCount)
        let number = UInt32(truncatingIfNeeded: frame.segment.number)
        if partialFrames.last?.segment == number {
            partialFrames[partialFrames.count - 1].byteCount += byteCount
        } else {
            partialFrames.append((number, byteCount))
        }
    }
}
