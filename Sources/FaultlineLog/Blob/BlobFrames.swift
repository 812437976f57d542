import FaultlineDisk

/// The frames around a blob's bytes: nobody needs them to read it, but salvage finds blobs by them.
struct BlobFrames {
    let id: RecordID
    let placement: BlobPlacement
    let blob: BlobBytes

    private static let headByteCount = FrameHeader.byteCount + RecordHeader.byteCount

    /// Reads the headers before each piece, and the padding behind it.
    ///
    /// - Throws: `.damaged` for the first that is not what was written; what the disk says.
    func verify() throws(LogError) {
        var start: UInt64 = 0
        repeat {
            let byteCount = min(placement.storedByteCount - start, BlobLayout.pieceByteCount)
            let isLast = start + byteCount == placement.storedByteCount
            let place = blob.layout.place(of: start)
            try verifyHeads(before: place, payloadByteCount: Int(byteCount), isLast: isLast)
            try verifyPadding(from: place + byteCount)
            start += byteCount
        } while start < placement.storedByteCount
    }

    private func verifyHeads(before place: UInt64, payloadByteCount: Int, isLast: Bool) throws(LogError) {
        let offset = place - UInt64(Self.headByteCount)
        let isValid = try withUnsafeTemporaryAllocation(byteCount: Self.headByteCount, alignment: 8) {
            (bytes) throws(LogError) in
            try blob.managed.read(into: bytes, at: offset, "reading a blob's frame")
            guard let base = UnsafeRawPointer(bytes.baseAddress),
                let header = FrameHeader(reading: base, at: offset, of: blob.managed.header)
            else { return false }
            let record = base + FrameHeader.byteCount
            return header.kind == .blob && header.recordCount == 1 && header.isContinued != isLast
                && header.headersCRC == CRC32C.checksum(record, RecordHeader.byteCount)
                && header.bodyByteCount == RecordHeader.byteCount + (payloadByteCount + 7) / 8 * 8
                && record.u48(16) == id
        }
        guard isValid else {
            throw .damaged("Blob \(id) has a frame that does not verify.", blob.managed.path, offset)
        }
    }

    private func verifyPadding(from end: UInt64) throws(LogError) {
        let byteCount = Int(end.roundedUpTo8 - end)
        guard byteCount > 0 else { return }
        let isZero = try withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) {
            (bytes) throws(LogError) in
            try blob.managed.read(into: bytes, at: end, "reading behind a blob")
            return bytes.allSatisfy { $0 == 0 }
        }
        guard isZero else { throw .damaged("Blob \(id) has padding that is not zero.", blob.managed.path, end) }
    }
}
