import FaultlineDisk

/// The records of a moved frame, each with its origin: `docs/FileFormat.md` section 5.
struct MovedRecords {
    struct Record {
        let bytes: UnsafeRawPointer
        let header: RecordHeader
        /// The offset in bytes from the start of the file.
        let offset: UInt64
        let origin: MoveOrigin
    }

    /// Calls `body` with each record of a frame that verifies.
    ///
    /// - Throws: `.damaged` if the frame is no moved one, or lacks its records' origins; the error of `body`.
    static func forEach(
        in frame: FrameScanner.Frame, of managed: ManagedFile, _ body: (Record) throws(LogError) -> Void
    ) throws(LogError) {
        let list = try check(frame, of: managed)
        guard let start = frame.body.baseAddress else { return }
        var place = list.wholeByteCount
        for index in 0..<(frame.header.recordCount - 1) {
            let header = RecordHeader(reading: start + place)
            let offset = frame.offset + UInt64(FrameHeader.byteCount + place)
            guard header.isUnderstood else {
                throw .newerFormat("The segment holds a record", managed.path, offset)
            }
            try body(
                Record(
                    bytes: start + place, header: header, offset: offset,
                    origin: MoveOrigin(reading: start + (RecordHeader.byteCount + index * MoveOrigin.byteCount))))
            place += header.wholeByteCount
        }
    }
    /// Checks that a frame is a moved one, and that its first record has the origin of each other one.
    ///
    /// - Returns: The header of that record.
    @discardableResult
    static func check(_ frame: FrameScanner.Frame, of managed: ManagedFile) throws(LogError) -> RecordHeader {
        guard frame.header.kind == .moved, let start = frame.body.baseAddress, frame.header.recordCount > 0 else {
            throw .damaged("A cold segment holds a frame of another kind.", managed.path, frame.offset)
        }
        let list = RecordHeader(reading: start)
        guard list.isUnderstood, list.operation == RecordOperation.moved.rawValue, list.table == 0, list.id == 0,
            list.storedByteCount == (frame.header.recordCount - 1) * MoveOrigin.byteCount
        else { throw .damaged("A moved frame does not tell where its records were.", managed.path, frame.offset) }
        return list
    }
}
