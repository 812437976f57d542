/// Bytes that the newest state needs, by the low 32 bits of a segment's number, counted from the tables.
struct LiveBytes {
    private(set) var byteCounts: [UInt32: UInt64] = [:]
    /// The first placement that could not be read: then nobody knows which blobs are needed.
    private(set) var unreadable: LogError?

    /// Nothing is counted.
    init() {}

    /// - Complexity: Reads every page of every table, and every placement of a blob.
    /// - Throws: What the disk says; `.damaged` where a page does not verify.
    init(_ snapshot: Snapshot) throws(LogError) {
        for root in snapshot.tables.all {
            let table = TableID(rawValue: root.table)
            try snapshot.forEachLocation(of: table) { (id, location) throws(LogError) in
                byteCounts[location.segment, default: 0] += UInt64(location.byteCount ?? 0)
                guard table == .blobs else { return }
                do throws(LogError) {
                    guard let placement = try snapshot.placement(of: id) else { return }
                    byteCounts[UInt32(truncatingIfNeeded: placement.segment), default: 0] += placement.storedByteCount
                } catch {
                    guard error.code == .damaged else { throw error }
                    if unreadable == nil { unreadable = error }
                }
            }
        }
    }

    subscript(_ number: UInt64) -> UInt64 { byteCounts[UInt32(truncatingIfNeeded: number)] ?? 0 }
}
