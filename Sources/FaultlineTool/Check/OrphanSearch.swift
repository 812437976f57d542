package import FaultlineLog

/// Marks the blobs that a pass over all rows meets, for one window of their identifiers at a time: a bit each.
///
/// Invariant: memory is that of one window, for a store of any size.
package struct OrphanSearch {
    /// Identifiers of a window: 4 MiB of bits.
    package static let windowCountMax: RecordID = 32 << 20

    private let end: RecordID
    private let windowCount: RecordID
    private var window: Range<RecordID>
    private var words: [UInt64]

    /// Begins with the first window.
    ///
    /// - Parameters:
    ///   - end: The identifier after the last blob.
    ///   - windowCount: Identifiers of a window.
    package init(end: RecordID, windowCount: RecordID = OrphanSearch.windowCountMax) {
        self.end = max(end, 1)
        self.windowCount = windowCount
        window = 1..<min(self.end, 1 + windowCount)
        words = [UInt64](repeating: 0, count: (window.count + 63) / 64)
    }

    /// Notes that something refers to a blob.
    package mutating func mark(_ blob: RecordID) {
        guard window.contains(blob) else { return }
        let place = Int(blob - window.lowerBound)
        words[place / 64] |= 1 << UInt64(place % 64)
    }

    /// Calls `body` with the blobs of the window that were not marked.
    ///
    /// - Throws: The errors of the disk, except damage.
    package func forEachUnmarked(
        in snapshot: Snapshot, _ body: (RecordID, BlobPlacement) throws -> Void
    ) throws {
        guard !window.isEmpty else { return }
        try snapshot.forEachBlob(from: window.lowerBound) { blob, placement in
            guard blob < window.upperBound else { return false }
            let place = Int(blob - window.lowerBound)
            if words[place / 64] & 1 << UInt64(place % 64) == 0 { try body(blob, placement) }
            return true
        }
    }

    /// Moves to the next window.
    ///
    /// - Returns: False if there is none.
    package mutating func advance() -> Bool {
        guard window.upperBound < end else { return false }
        window = window.upperBound..<min(end, window.upperBound + windowCount)
        words = [UInt64](repeating: 0, count: (window.count + 63) / 64)
        return true
    }
}
