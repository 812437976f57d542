/// A blob that stays readable: keeps its file open, but not the snapshot that it was found in.
///
/// Neither its deletion nor the compaction of its segment ends it: the file of a dropped segment is removed when the
/// last holder is gone.
package struct HeldBlob: Sendable {
    /// The blob's number; 0 for an upload, which has none.
    private let id: RecordID
    private let placement: BlobPlacement
    private let file: ManagedFile

    init(id: RecordID, placement: BlobPlacement, file: ManagedFile) {
        self.id = id
        self.placement = placement
        self.file = file
    }

    /// Bytes of the blob.
    package var byteCount: UInt64 { placement.rawByteCount }

    /// Reads a range of the blob; only the chunks that hold it are read, and verified.
    package func read(_ range: Range<UInt64>, into target: UnsafeMutableRawBufferPointer) throws(LogError) {
        var reader = try reader()
        try reader.read(range, into: target)
    }

    /// A reader of the blob's chunks.
    func reader() throws(LogError) -> BlobReader { try BlobReader(id, placement, file) }
}
