/// Tracks how far zeros reach behind the end of the log, and decides when to write more.
///
/// A commit that overwrites zeros leaves the file's length and blocks as they are, so the file system has no metadata
/// to make durable with it. On ext4 a group of 400 bytes waits a third shorter, one of 3 KiB or more less than half as
/// long. Zeros are written behind a group, and made durable by the same synchronization.
///
/// Small groups earn as many zeros as they have bytes. So their writes are doubled at most, a store with few commits
/// gets no zeros, and bulk writes have no overhead.
/// gets none, and bulk writes go straight.
struct ZerosAhead {
    /// The size from which a group waits for its own bytes rather than for the file system's metadata.
    private static let groupByteCountMax = 64 << 10
    /// The largest step, as a multiple of the first.
    private static let growthMax = 4

    private let stepByteCountMax: Int
    /// The size of the next step; each is twice the last one.
    private var stepByteCount: Int
    /// The end of the zeros, or of the frames.
    private var end: UInt64
    /// Bytes of small groups for which no zeros were written yet.
    private var earnedByteCount = 0

    /// - Parameters:
    ///
    ///   - firstByteCount: The size of the first step; 0 writes no zeros, ever.
    ///   - end: The end of the log.
    init(firstByteCount: Int, from end: UInt64) {
        stepByteCount = firstByteCount
        stepByteCountMax = firstByteCount * Self.growthMax
        self.end = end
    }

    /// Decides how many zeros to write behind a group, to be durable with it.
    ///
    /// - Parameters:
    ///   - groupByteCount: Bytes of the group's frames.
    ///   - logEnd: The end of those frames.
    ///   - roomEnd: The end of the reserved disk space; zeros take no other.
    /// - Returns: The number of zeros.
    mutating func take(behind groupByteCount: Int, logEnd: UInt64, roomEnd: UInt64) -> Int {
        guard stepByteCount > 0, groupByteCount < Self.groupByteCountMax else { return 0 }
        earnedByteCount = min(earnedByteCount + groupByteCount, stepByteCountMax)
        guard logEnd > end, earnedByteCount >= stepByteCount, roomEnd > logEnd else { return 0 }
        let byteCount = Int(min(UInt64(stepByteCount), roomEnd - logEnd))
        earnedByteCount -= byteCount
        stepByteCount = min(stepByteCount * 2, stepByteCountMax)
        end = logEnd + UInt64(byteCount)
        return byteCount
    }

    /// Frames continue in a new segment.
    mutating func beginSegment() { end = 0 }
}
