package import FaultlineLog

/// Reading values that lie outside of their rows.
extension Snapshot {
    /// Compares the size that a row names with that of the value, before memory is allocated for it.
    ///
    /// - Throws: `malformed` if they differ; errors of reading.
    package func checkSize(of reference: BlobReference) throws(StoreError) {
        let stored: UInt64
        do throws(LogError) { stored = try blobByteCount(reference.identifier) } catch { throw StoreError(error) }
        guard stored == reference.byteCount else {
            throw StoreError(
                .malformed,
                "A row names a value of \(reference.byteCount) bytes, and blob \(reference.identifier) has \(stored). Run `faultline verify`, then `faultline salvage`."
            )
        }
    }

    /// Reads a whole value.
    ///
    /// - Throws: `malformed` if the value has another size than the row names; errors of reading.
    package func bytes(of reference: BlobReference) throws(StoreError) -> [UInt8] {
        try checkSize(of: reference)
        var bytes = [UInt8](repeating: 0, count: Int(clamping: reference.byteCount))
        let result = bytes.withUnsafeMutableBytes { target in
            Result { () throws(LogError) in
                try readBlob(reference.identifier, range: 0..<UInt64(target.count), into: target)
            }
        }
        do throws(LogError) { try result.get() } catch { throw StoreError(error) }
        return bytes
    }
}
