import FaultlineDisk

/// The frames around a blob's bytes: reads do not need them, but salvage finds blobs by them.
struct BlobFrames {
    let id: RecordID
    let placement: BlobPlacement
    let blob: BlobBytes

    /// Reads the headers before each piece, and the padding behind it.
    ///
    /// - Throws: `.damaged` for the first one that differs from the written bytes; disk errors.
    func verify() throws(LogError) {
        let byteCount = placement.storedByteCount
        for number in 0..<BlobLayout.pieceCount(payloadByteCount: byteCount) {
            let piece = blob.layout.piece(number, payloadByteCount: byteCount)
            try verifyHeads(of: piece)
            try verifyPadding(from: blob.layout.place(of: piece.payloadOffset) + UInt64(piece.byteCount))
        }
    }

    private func verifyHeads(of piece: BlobLayout.Piece) throws(LogError) {
        let isValid = try withUnsafeTemporaryAllocation(byteCount: Int(BlobLayout.overhead), alignment: 8) {
            (bytes) throws(LogError) in
            try blob.managed.read(into: bytes, at: piece.frameOffset, "reading a blob's frame")
            guard let base = UnsafeRawPointer(bytes.baseAddress),
                let header = FrameHeader(reading: base, at: piece.frameOffset, of: blob.managed.header)
            else { return false }
            let record = base + FrameHeader.byteCount
            return header.kind == .blob && header.recordCount == 1 && header.isContinued != piece.isLast
                && header.headersCRC == CRC32C.checksum(record, RecordHeader.byteCount)
                && header.bodyByteCount == piece.bodyByteCount && record[RecordHeader.Fields.id] == id
        }
        guard isValid else {
            throw blob.managed.noting(
                .damaged("Blob \(id) has a frame that does not verify.", blob.managed.path, piece.frameOffset))
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
        guard isZero else {
            throw blob.managed.noting(.damaged("Blob \(id) has padding that is not zero.", blob.managed.path, end))
        }
    }
}
