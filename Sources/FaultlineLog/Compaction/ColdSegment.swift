import FaultlineDisk

/// The cold segment that is being written.
///
/// Concurrency: guarded by the lock for checkpoints and moves of records.
// Safe because of the rules in the comment above.
final class ColdSegment: @unchecked Sendable {
    let managed: ManagedFile
    /// The newest transaction that was published before the segment got its first record.
    let begun: UInt64
    /// The end of the durable bytes.
    private(set) var end: UInt64
    /// headCRC of the frame that ends there.
    private(set) var previousHead: UInt32
    /// The offset of the next frame.
    private(set) var writtenEnd: UInt64
    /// headCRC of the frame before it.
    private(set) var writtenHead: UInt32
    private var room: RoomAhead
    /// Bounds of the transactions of its records; nil where the segment was opened again.
    private var sequences: ClosedRange<UInt64>?
    private let wasOpened: Bool
    /// Set by a failed write: the file gets no further bytes.
    private(set) var hasFailed = false

    init(_ managed: ManagedFile, begun: UInt64, end: UInt64, previousHead: UInt32) {
        self.managed = managed
        self.begun = begun
        self.end = end
        self.previousHead = previousHead
        writtenEnd = end
        writtenHead = previousHead
        room = RoomAhead(from: end)
        wasOpened = end > UInt64(FileHeader.byteCount)
    }

    /// Writes a frame that was made for this offset.
    ///
    /// - Parameters:
    ///   - bytes: The frame.
    ///   - head: Its headCRC.
    ///   - originals: The transactions of its records.
    /// - Throws: `.fullDisk`, after which nothing has changed; other disk errors: the segment gets no more bytes then.
    func append(_ bytes: UnsafeRawBufferPointer, head: UInt32, originals: ClosedRange<UInt64>) throws(LogError) {
        try room.make(through: writtenEnd + UInt64(bytes.count), in: managed.file)
        do throws(DiskError) {
            try managed.file.write(bytes, at: writtenEnd)
        } catch {
            hasFailed = true
            throw LogError(error, doing: "moving records")
        }
        writtenEnd += UInt64(bytes.count)
        writtenHead = head
        let before = sequences ?? originals
        sequences = min(before.lowerBound, originals.lowerBound)...max(before.upperBound, originals.upperBound)
    }

    /// Makes the written bytes durable.
    ///
    /// - Throws: Disk errors: the segment gets no more bytes then.
    func synchronize() throws(LogError) {
        do throws(DiskError) {
            try managed.file.synchronize(site: "compaction.moved")
        } catch {
            hasFailed = true
            throw LogError(error, doing: "moving records")
        }
        end = writtenEnd
        previousHead = writtenHead
    }

    /// The manifest's entry for the segment when nothing more is written.
    ///
    /// `newest` bounds the transactions of a segment that an earlier opening began.
    func seal(newest: UInt64) -> SealedFile {
        let bounds = wasOpened ? 0...newest : sequences ?? 0...0
        return SealedFile(
            number: managed.number, end: end, chain: previousHead, firstSequence: bounds.lowerBound,
            lastSequence: bounds.upperBound)
    }
}
