extension Snapshot {
    /// The placement of a blob, or nil if it does not exist.
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

    /// Calls `body` with the blobs whose placements can be read, in ascending order, until it returns false.
    ///
    /// - Throws: Disk errors, but for damage; the error of `body`.
    package func forEachBlob(from first: RecordID, _ body: (RecordID, BlobPlacement) throws -> Bool) throws {
        try scanPastDamage(.blobs, from: first, readAhead: 128 << 10) { _ in
            // `verify` reports it.
        } _: { records in
            for record in records {
                guard let placement = BlobPlacement(reading: record.row) else { continue }
                guard try body(record.id, placement) else { return false }
            }
            return true
        }
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

    /// Holds a blob that is about to be deleted.
    ///
    /// - Throws: `.missing` if it is deleted already.
    /// - Complexity: One small read.
    package func hold(_ id: RecordID) throws(LogError) -> HeldBlob {
        guard let placement = try placement(of: id) else { throw Self.missing(id) }
        return HeldBlob(id: id, placement: placement, file: try blobFile(id, placement))
    }

    package func blobReader(_ id: RecordID, _ placement: BlobPlacement) throws(LogError) -> BlobReader {
        try BlobReader(id, placement, blobFile(id, placement))
    }

    private func blobFile(_ id: RecordID, _ placement: BlobPlacement) throws(LogError) -> ManagedFile {
        guard let file = files.find(UInt32(truncatingIfNeeded: placement.segment)) else {
            throw files.missing(id, placement)
        }
        return file.takeUnretainedValue()
    }

    private static func missing(_ id: RecordID) -> LogError {
        LogError(.missing, "Blob \(id) does not exist.")
    }
}
