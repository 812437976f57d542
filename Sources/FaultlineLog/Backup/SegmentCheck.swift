import FaultlineDisk

/// Verifies the frames of a segment that is copied, and the large values that they place.
///
/// Memory: one frame, and two chunks of a large value.
package struct SegmentCheck {
    /// Opens a listed blob segment; nil if the store has it no more, because its values moved or were deleted.
    private let blobSegment: (UInt64) throws(LogError) -> ManagedFile?
    /// Of a transaction that is not complete yet: it may be an abandoned one, whose values need not be complete.
    private var fault: LogError?

    /// - Parameter blobSegment: Opens a listed blob segment, or returns nil.
    package init(blobSegment: @escaping (UInt64) throws(LogError) -> ManagedFile?) {
        self.blobSegment = blobSegment
    }

    /// Verifies the frames between two offsets of a hot or cold segment; hot ones are verified in their order, because a
    /// transaction may go on in the next one.
    ///
    /// - Parameters:
    ///   - managed: The segment.
    ///   - offset: The start: behind the file's header, or the end of a frame.
    ///   - head: headCRC of the frame that ends there; 0 for none.
    ///   - end: The end of the last frame.
    /// - Returns: headCRC of the last frame.
    /// - Throws: `.damaged` with file and offset for the first frame or large value that does not verify; disk errors.
    package mutating func check(
        _ managed: ManagedFile, from offset: UInt64, head: UInt32, to end: UInt64
    ) throws(LogError) -> UInt32 {
        var scanner = FrameScanner(managed, from: offset, previousHead: head, limit: end)
        while let frame = try scanner.next() {
            if frame.header.part == 0 { fault = nil }
            var placements: [(id: RecordID, placement: BlobPlacement)] = []
            frame.forEachPlacement { placements.append(($0, $1)) }
            for (id, placement) in placements where fault == nil {
                fault = try check(id, placement)
            }
            if !frame.header.isContinued, let fault { throw fault }
        }
        guard scanner.offset == end else {
            throw .damaged("A frame does not verify. \(LogError.damageRemedy)", managed.path, scanner.offset)
        }
        return scanner.previousHead
    }

    private func check(_ id: RecordID, _ placement: BlobPlacement) throws(LogError) -> LogError? {
        guard let managed = try blobSegment(placement.segment) else { return nil }
        do throws(LogError) {
            var reader = try BlobReader(id, placement, managed)
            try reader.verify()
            return nil
        } catch {
            guard error.code == .damaged else { throw error }
            return error
        }
    }
}
