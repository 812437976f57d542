import FaultlineDisk

/// The end of the log: the segment that frames are encoded for, the offset of the next one, and the disk space reserved
/// behind it.
///
/// Concurrency: guarded by the writer lock.
struct LogEnd {
    let segment: ManagedFile
    var offset: UInt64
    private var room: RoomAhead

    /// The end of a segment that is written up to `offset`.
    init(_ segment: ManagedFile, _ offset: UInt64) {
        self.segment = segment
        self.offset = offset
        room = RoomAhead(from: offset)
    }

    /// The place of the next frame.
    @inline(__always)
    var place: FrameWriter.Place { .init(segment: segment, offset: offset) }

    /// The end of the reserved disk space.
    var roomEnd: UInt64 { room.end }

    /// Reserves disk space for the bytes before `end`.
    @inline(__always)
    mutating func makeRoom(through end: UInt64) throws(LogError) { try room.make(through: end, in: segment.file) }
}
