/// The reads of a context, or of all contexts of a container, so far.
///
/// The difference of two readings is the cost of the work between them.
public struct FaultCounters: Equatable, Sendable, CustomStringConvertible {
    /// Objects whose row was loaded because a property was read.
    public var faultsFired = 0
    /// Rows read from the store, including those that queries examined and those read ahead.
    public var rowsRead = 0
    /// Bytes of large values that were read.
    public var blobBytesRead = 0
    /// Bytes of memory that loaded rows, pages of records and of tables, and index blocks take now.
    public var cacheBytes = 0

    /// All zero.
    public init() {}

    /// The counts between two readings; `cacheBytes` is the later one's less the earlier one's.
    public static func - (later: FaultCounters, earlier: FaultCounters) -> FaultCounters {
        var difference = FaultCounters()
        difference.faultsFired = later.faultsFired - earlier.faultsFired
        difference.rowsRead = later.rowsRead - earlier.rowsRead
        difference.blobBytesRead = later.blobBytesRead - earlier.blobBytesRead
        difference.cacheBytes = later.cacheBytes - earlier.cacheBytes
        return difference
    }

    /// Adds the counts of another context.
    public static func + (left: FaultCounters, right: FaultCounters) -> FaultCounters {
        var sum = left
        sum.faultsFired += right.faultsFired
        sum.rowsRead += right.rowsRead
        sum.blobBytesRead += right.blobBytesRead
        sum.cacheBytes += right.cacheBytes
        return sum
    }

    /// The four counts in one line.
    public var description: String {
        "\(faultsFired) faults fired, \(rowsRead) rows read, \(blobBytesRead) blob bytes read, \(cacheBytes) bytes cached"
    }
}
