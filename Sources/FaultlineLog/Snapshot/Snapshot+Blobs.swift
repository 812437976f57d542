extension Snapshot {
    /// Where a blob lies, or nil if it does not exist.
    package func placement(of id: RecordID) throws(LogError) -> BlobPlacement? {
        let location = try location(of: id, in: .blobs)
        guard !location.isAbsent else { return nil }
        let placement = try IndexReplay.row(id, .blobs, location, files) { _, view in BlobPlacement(reading: view.row) }
        guard let placement else {
            throw .damaged(
                "The placement of blob \(id) is not understood.", try file(of: location).path, location.byteOffset)
        }
        return placement
    }

    /// Bytes of a blob.
    ///
    /// - Throws: `.missing` if it does not exist.
    /// - Complexity: One small read.
    package func blobByteCount(_ id: RecordID) throws(LogError) -> UInt64 {
        guard let placement = try placement(of: id) else { throw Self.missing(id) }
        return placement.rawByteCount
    }

    /// Reads a range of a blob; only the chunks that hold it are read, and verified.
    ///
    /// - Throws: `.missing` if the blob does not exist, `.damaged` if a chunk does not verify.
    package func readBlob(_ id: RecordID, range: Range<UInt64>, into target: UnsafeMutableRawBufferPointer)
        throws(LogError)
    {
        guard let placement = try placement(of: id) else { throw Self.missing(id) }
        var reader = try blobReader(id, placement)
        try reader.read(range, into: target)
    }

    func blobReader(_ id: RecordID, _ placement: BlobPlacement) throws(LogError) -> BlobReader {
        guard let file = files.find(UInt32(truncatingIfNeeded: placement.segment)) else {
            throw LogError(.damaged, "Blob \(id) lies in segment \(placement.segment), which is not there.")
        }
        return try BlobReader(id, placement, file.takeUnretainedValue())
    }

    private static func missing(_ id: RecordID) -> LogError {
        LogError(.missing, "Blob \(id) does not exist.")
    }
}
