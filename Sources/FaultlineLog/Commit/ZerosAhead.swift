/// How far zeros reach behind the end of the log, and when more are written.
///
/// A commit that overwrites zeros leaves the file's length and blocks as they are, so the file system has nothing of its
/// own to make durable with it. On ext4 a group of 400 bytes waits a third shorter, one of 3 KiB and more less than half
/// as long. Zeros are written behind a group, and made durable by the same synchronization.
///
/// Small groups earn as many zeros as they have bytes. So what they write is doubled at most, a store with few commits
/// gets none, and bulk writes go straight.
struct ZerosAhead {
    /// Groups of so many bytes or more wait for their own bytes rather than for the file system's.
    private static let groupByteCountMax = 64 << 10
    /// The largest step is so many times the first.
    private static let growthMax = 4

    private let stepByteCountMax: Int
    /// Zeros that are written next; each time twice as many.
    private var stepByteCount: Int
    /// Zeros, or frames, reach up to here.
    private var end: UInt64
    /// Bytes of small groups that no zeros were written for yet.
    private var earnedByteCount = 0

    /// - Parameters:
    ///   - firstByteCount: Zeros that are written the first time; 0: none, ever.
    ///   - end: Where the log ends.
    init(firstByteCount: Int, from end: UInt64) {
        stepByteCount = firstByteCount
        stepByteCountMax = firstByteCount * Self.growthMax
        self.end = end
    }

    /// Decides what is to be written behind a group, to be durable with it.
    ///
    /// - Parameters:
    ///   - groupByteCount: Bytes of the group's frames.
    ///   - logEnd: Where they end.
    ///   - roomEnd: Up to where disk space is set aside; zeros take no other.
    /// - Returns: How many zeros.
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

    /// Frames go on in a fresh segment.
    mutating func beginSegment() { end = 0 }
}
