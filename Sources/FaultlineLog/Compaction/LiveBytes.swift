/// Bytes that the newest state needs, by the low 32 bits of a segment's number, counted from the tables.
struct LiveBytes {
    private struct Sums {
        var byteCount: UInt64 = 0
        /// Bytes that copying them writes in addition.
        var addedByteCount: UInt64 = 0
    }

    private var sums: [UInt32: Sums] = [:]
    /// The first placement that could not be read: then it is unknown which blobs are needed.
    private(set) var unreadable: LogError?

    /// An empty count.
    init() {}

    /// - Complexity: Reads every page of every table, and every placement of a blob.
    /// - Throws: Disk errors; `.damaged` where a page does not verify.
    init(_ snapshot: Snapshot) throws(LogError) {
        for root in snapshot.tables.all {
            let table = TableID(rawValue: root.table)
            try snapshot.forEachLocation(of: table) { (id, location) throws(LogError) in
                sums[location.segment, default: Sums()].byteCount += UInt64(location.byteCount ?? 0)
                sums[location.segment, default: Sums()].addedByteCount += UInt64(MoveOrigin.byteCount)
                guard table == .blobs else { return }
                do throws(LogError) {
                    guard let placement = try snapshot.placement(of: id) else { return }
                    let segment = UInt32(truncatingIfNeeded: placement.segment)
                    sums[segment, default: Sums()].byteCount += placement.storedByteCount
                    sums[segment, default: Sums()].addedByteCount += Self.placementByteCount
                } catch {
                    guard error.code == .damaged else { throw error }
                    if unreadable == nil { unreadable = error }
                }
            }
        }
    }

    private static let placementByteCount = UInt64(RecordHeader.byteCount + BlobPlacement.byteCount.roundedUpTo8)

    /// Bytes that are live in all segments.
    var total: UInt64 { sums.values.reduce(0) { $0 + $1.byteCount } }

    /// Bytes that are live in a segment.
    subscript(_ number: UInt64) -> UInt64 { sums[UInt32(truncatingIfNeeded: number)]?.byteCount ?? 0 }

    /// Bytes that the live bytes take once they are copied, with their origins or placements.
    func copied(_ number: UInt64) -> UInt64 {
        let sum = sums[UInt32(truncatingIfNeeded: number)] ?? Sums()
        return sum.byteCount + sum.addedByteCount
    }
}
