import FaultlineDisk

/// Fills frames with records, in blocks of memory that are reused when their frames are written.
///
/// Concurrency: guarded by the writer lock.
struct FrameWriter {
    /// A place for the next frame.
    struct Place {
        let segment: ManagedFile
        let offset: UInt64
    }

    private let committer: Committer
    private let byteCountMax: Int
    private var block: FrameBlock
    private var resting: [FrameBlock] = []
    private var pending = PendingFrames()
    /// The frame's position in its block; -1 while no frame is begun.
    private var start = -1
    /// Bytes of the frame, with its header.
    private(set) var byteCount = 0
    private(set) var recordCount = 0
    private var headersCRC: UInt32 = 0

    init(_ committer: Committer, byteCountMax: Int) {
        self.committer = committer
        self.byteCountMax = byteCountMax
        block = FrameBlock(capacity: byteCountMax + 65_536)
    }

    /// Whether a frame is begun.
    var isOpen: Bool { start >= 0 }

    /// The memory of the next record.
    @inline(__always)
    var next: UnsafeMutableRawPointer { block.start + block.used }

    /// Whether a record of `whole` bytes fits into the frame and its block.
    @inline(__always)
    func hasRoom(for whole: Int, isClosing: Bool) -> Bool {
        start >= 0 && block.used &+ whole <= block.capacity && !isFull(for: whole, isClosing: isClosing)
    }

    /// Whether the frame must be written before a record of `whole` bytes; a closing record exceeds the usual size.
    @inline(__always)
    func isFull(for whole: Int, isClosing: Bool) -> Bool {
        byteCount &+ whole > byteCountMax && !isClosing || recordCount >= Limits.frameRecordCountMax - 1
    }

    /// Begins a frame.
    mutating func begin(at place: Place) {
        if block.used + FrameHeader.byteCount > block.capacity { replaceBlock(capacity: 0) }
        start = block.used
        byteCount = FrameHeader.byteCount
        recordCount = 0
        headersCRC = 0
        block.used += FrameHeader.byteCount
        pending.append(
            PendingFrames.Frame(segment: place.segment.number, offset: place.offset, block: block, start: start))
    }

    /// Makes room in the block for a record of `whole` bytes: the frame moves to a larger one if need be.
    mutating func makeRoom(for whole: Int) {
        guard block.used + whole > block.capacity else { return }
        let (old, oldStart) = (block, start)
        let wanted = byteCount + whole + 2_048
        old.used = oldStart
        replaceBlock(capacity: max(wanted, min(byteCount * 2, byteCountMax)))
        block.start.copyMemory(from: old.start + oldStart, byteCount: byteCount)
        start = 0
        block.used = byteCount
        pending.moveLast(to: block)
    }

    /// Gives the record at `next` its checksum and counts it.
    ///
    /// - Returns: The location of the record.
    @inline(__always)
    mutating func seal(_ record: UnsafeMutableRawPointer, _ whole: Int, at place: Place) -> Location {
        let offset = place.offset + UInt64(byteCount)
        RecordHeader.seal(record, whole, binding: place.segment.recordBinding(at: offset))
        headersCRC = CRC32C.checksum(record, RecordHeader.byteCount, seed: headersCRC)
        byteCount &+= whole
        block.used &+= whole
        recordCount &+= 1
        return Location(segment: place.segment.number, byteOffset: offset, byteCount: whole)
    }

    /// Completes the frame's header but for the fields that the leader stamps, and ends the frame.
    ///
    /// - Parameters:
    ///   - place: The place of the frame.
    ///   - roomEnd: The end of the reserved disk space.
    ///   - header: Makes the header of the body's size, the checksum of the record headers and the number of records.
    /// - Returns: The frame, for the queue.
    mutating func close(
        at place: Place, roomEnd: UInt64, _ header: (_ bodyByteCount: Int, _ headersCRC: UInt32, Int) -> FrameHeader
    ) -> CommitRequest.Frame {
        header(byteCount - FrameHeader.byteCount, headersCRC, recordCount)
            .write(to: block.start + start, at: place.offset, of: place.segment.header)
        defer { start = -1 }
        return CommitRequest.Frame(
            block: block, start: start, byteCount: byteCount, segment: place.segment, offset: place.offset,
            roomEnd: roomEnd)
    }

    /// Discards the frame.
    mutating func discard() {
        guard start >= 0 else { return }
        block.used = start
        pending.removeLast()
        start = -1
    }

    /// The bytes of a record that is not written yet, or nil if it is.
    func find(_ location: Location) -> UnsafeRawPointer? { pending.find(location) }

    private mutating func replaceBlock(capacity: Int) {
        resting.append(block)
        if let index = resting.firstIndex(where: {
            $0.capacity >= capacity && committer.isIdle($0) && $0.used == 0
        }) {
            block = resting.remove(at: index)
        } else {
            block = FrameBlock(capacity: max(capacity, byteCountMax + 65_536))
        }
    }

    /// Reuses blocks whose frames are written.
    mutating func recycle() {
        guard start < 0 else { return }
        if block.used > 0, committer.isIdle(block) {
            pending.remove(block)
            block.used = 0
        }
        guard !resting.isEmpty else { return }
        for resting in resting where committer.isIdle(resting) {
            pending.remove(resting)
            resting.used = 0
        }
        // One spare block of the usual size is enough.
        var spare = 1
        let usual = byteCountMax + 65_536
        resting.removeAll { [committer] resting in
            guard resting.used == 0, committer.isIdle(resting) else { return false }
            spare -= 1
            return spare < 0 || resting.capacity > usual
        }
    }
}
