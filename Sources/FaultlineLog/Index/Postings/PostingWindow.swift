/// Entries of one group that a walk passes without asking its sources: each is live, and the only one of its object.
///
/// It holds nothing: the source that it came from stands still as long as it is used.
struct PostingWindow {
    private let list: Unmanaged<PostingList>
    private let ids: UnsafePointer<UInt64>
    /// The current entry.
    private(set) var entry: Int
    /// The entry behind the window, which the group has.
    let end: Int

    init(_ list: PostingList, _ entries: Range<Int>) {
        self.list = Unmanaged.passUnretained(list)
        ids = list.identifiers
        entry = entries.lowerBound
        end = entries.upperBound
    }

    /// The object of the current entry.
    @inline(__always) var id: RecordID { ids[entry] }

    /// The payload of the current entry, valid until that of another one is asked for.
    @inline(__always) var payload: UnsafeRawBufferPointer {
        list._withUnsafeGuaranteedRef { $0.payload(entry) }
    }

    /// Moves forward to the first entry whose object is not below another one, which is above the current one.
    ///
    /// - Returns: False if the window has none; then the current entry is the one behind it.
    @inline(__always)
    mutating func seek(_ id: RecordID) -> Bool {
        entry = ids.first(notBelow: id, in: entry &+ 1..<end)
        return entry < end
    }
}
