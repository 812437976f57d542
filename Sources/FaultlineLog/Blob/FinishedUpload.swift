import Synchronization

/// A large value that was written beside transactions, and that a transaction may place.
///
/// Its bytes are readable at once, and durable with the transaction that places them. If the last reference goes before
/// a transaction has placed them, they are dead bytes.
package final class FinishedUpload: Sendable {
    let segment: BlobSegment
    let body: BlobBody
    private let segments: UploadSegments
    private let claimed = Atomic<Bool>(false)

    init(_ body: BlobBody, in segment: BlobSegment, of segments: UploadSegments) {
        self.segment = segment
        self.body = body
        self.segments = segments
    }

    deinit {
        if !claimed.load(ordering: .acquiring) { segments.drop(self.segment, byteCount: self.byteCountInSegment) }
    }

    /// The bytes, for reading: also after the store was closed, or the segment compacted.
    package var held: HeldBlob {
        HeldBlob(id: 0, placement: body.placement(in: segment.managed.number, recordCRC: 0), file: segment.managed)
    }

    /// Bytes of the value.
    package var byteCount: UInt64 { body.rawByteCount }

    /// Bytes that it takes in its segment.
    var byteCountInSegment: UInt64 { body.end - body.start }

    /// Gives the right to place the value, to one transaction.
    ///
    /// - Parameter asker: The segments of the log that wants it.
    /// - Returns: Whether this is the first call, and by the log that the value was written to.
    func claim(by asker: UploadSegments) -> Bool {
        asker === segments && !claimed.exchange(true, ordering: .acquiringAndReleasing)
    }
}
