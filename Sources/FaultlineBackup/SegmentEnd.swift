internal import FaultlineLog

/// Finds the end of the frames of a segment that a process may be writing.
enum SegmentEnd {
    /// The end of the frames that do not change any more.
    ///
    /// - Parameters:
    ///   - managed: A hot or cold segment.
    ///   - entry: Its entry in the manifest.
    ///   - length: The length of the file.
    /// - Returns: The offset.
    /// - Throws: `.damaged` if a frame does not verify although it had been synchronized; disk errors.
    static func find(
        in managed: ManagedFile, _ entry: ManifestState.FileEntry, length: UInt64
    ) throws(LogError) -> UInt64 {
        var place = (offset: entry.durable, head: entry.durableHead)
        while true {
            var scanner = FrameScanner(managed, from: place.offset, previousHead: place.head, limit: length)
            while try scanner.next() != nil {}
            let end = scanner.place
            // Behind a frame that was just being written there may be later ones: it verifies at a second look.
            guard entry.kind == .hotSegment, try scanner.largestWatermarkBehind() > end.offset else {
                return end.offset
            }
            guard end.offset > place.offset else {
                throw LogError(
                    .damaged, "A frame does not verify although it had been synchronized. \(LogError.damageRemedy)",
                    path: managed.path, offset: end.offset)
            }
            place = end
        }
    }
}
