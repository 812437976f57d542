import FaultlineDisk

extension Replay {
    /// Replays a cold segment from a position.
    ///
    /// Over a checkpoint, a move counts if the table still has its old location; otherwise a later change superseded
    /// it. If the tables are built from the segments alone, each record counts that is not older than the known version
    /// of its object; then one pass over each table of which the segment has a drop removes the older objects.
    ///
    /// - Parameters:
    ///   - managed: The segment's file.
    ///   - position: The start.
    ///   - end: The end of the valid frames; all before it must verify.
    ///   - chain: headCRC of the last of them; 0 if it is not known.
    /// - Throws: `.damaged` if a frame before the end does not verify, or is of another kind.
    mutating func replayCold(
        _ managed: ManagedFile, from position: MovePosition, end: UInt64, chain: UInt32
    ) throws(LogError) {
        guard position.offset < end else { return }
        var dropped: Set<UInt16> = []
        var scanner = FrameScanner(
            managed, from: position.offset, previousHead: position.previousHead, limit: end)
        while let frame = try scanner.next() {
            if frame.header.kind == nil { continue }
            var headByteCount = UInt64(FrameHeader.byteCount + frame.body.count)
            try MovedRecords.forEach(in: frame, of: managed) { (record) throws(LogError) in
                if newest == nil {
                    try move(record, in: managed)
                } else if record.header.operation == RecordOperation.dropTable.rawValue {
                    // From here on older records of the table do not count.
                    newest?.noteDrop(of: record.header.table, sequence: record.origin.sequence)
                    dropped.insert(record.header.table)
                } else {
                    try take(record, in: managed)
                }
                headByteCount -= UInt64(record.header.wholeByteCount)
            }
            dead[UInt32(truncatingIfNeeded: managed.number), default: 0] += headByteCount
            try spillIfNeeded()
        }
        guard scanner.offset == end, chain == 0 || scanner.previousHead == chain else {
            throw .damaged("A cold segment is damaged.", managed.path, scanner.offset)
        }
        for table in dropped.sorted() { try removeDropped(of: table) }
        byteCount += end - position.offset
    }

    private mutating func move(_ record: MovedRecords.Record, in managed: ManagedFile) throws(LogError) {
        let header = record.header
        guard header.operation == RecordOperation.put.rawValue, Self.isIdentifier(header.id) else { return }
        guard try tables.location(of: header.id, in: header.table) == record.origin.from else {
            dead[UInt32(truncatingIfNeeded: managed.number), default: 0] += UInt64(header.wholeByteCount)
            return
        }
        let to = Location(segment: managed.number, byteOffset: record.offset, byteCount: header.wholeByteCount)
        _ = try tables.replace(header.id, in: header.table, with: to)
        dead[record.origin.from.segment, default: 0] += UInt64(header.wholeByteCount)
    }

    private mutating func take(_ record: MovedRecords.Record, in managed: ManagedFile) throws(LogError) {
        let header = record.header
        let sequence = record.origin.sequence
        switch RecordOperation(rawValue: header.operation) {
        case .put:
            guard Self.isIdentifier(header.id) else {
                throw .damaged("A record has no valid identifier.", managed.path, record.offset)
            }
            guard try newest?.note(header.id, in: header.table, sequence: sequence) == true else { return }
            let to = Location(segment: managed.number, byteOffset: record.offset, byteCount: header.wholeByteCount)
            _ = try tables.replace(header.id, in: header.table, with: to)
            if header.table == TableID.blobs.rawValue { noteBlob(record.bytes, header, to) }
        case .delete:
            guard Self.isIdentifier(header.id) else {
                throw .damaged("A record has no valid identifier.", managed.path, record.offset)
            }
            guard try newest?.note(header.id, in: header.table, sequence: sequence) == true else { return }
            _ = try tables.replace(header.id, in: header.table, with: .absent)
        default:
            throw .damaged("A cold segment holds a record of another kind.", managed.path, record.offset)
        }
    }

    /// Removes the objects that a table had before it was dropped.
    private mutating func removeDropped(of table: UInt16) throws(LogError) {
        droppedTablePassCount += 1
        let snapshot = Snapshot(sequence: sequence, tables: tables.capture(), indexes: .empty, files: files)
        try snapshot.forEachLocation(of: TableID(rawValue: table)) { (id, _) throws(LogError) in
            guard try newest?.isDropped(id, in: table) == true else { return }
            _ = try tables.replace(id, in: table, with: .absent)
        }
    }

    /// The end of a cold segment's frames, and of those known to be durable.
    ///
    /// Frames behind that end only say where records were moved to: without them the records are at their old
    /// locations.
    ///
    /// - Parameters:
    ///   - managed: A segment that was being written.
    ///   - position: The start of its replay.
    ///   - durable: The durable end by the manifest, and headCRC of the frame that ends there.
    /// - Returns: The end of the frames that verify, and the end of those known to be durable.
    /// - Throws: `.damaged` if a synchronized frame does not verify.
    static func durableEnd(
        of managed: ManagedFile, from position: MovePosition, durable: (end: UInt64, head: UInt32)
    ) throws(LogError) -> SegmentEnd {
        let length = try onDisk("reading a segment") { () throws(DiskError) in try managed.file.byteCount() }
        let (offset, head) =
            position.offset > durable.end ? (position.offset, position.previousHead) : durable
        var scanner = FrameScanner(managed, from: offset, previousHead: head, limit: length)
        var known = (end: offset, head: head)
        var recent: [(end: UInt64, head: UInt32)] = []
        while let frame = try scanner.next() {
            recent.append((frame.end, frame.head))
            if let place = recent.firstIndex(where: { $0.end == scanner.durable }) {
                known = recent[place]
                recent.removeSubrange(...place)
            }
        }
        let end = scanner.offset
        var watermark = scanner.durable
        if end < length { watermark = max(watermark, try scanner.largestWatermarkBehind()) }
        guard watermark <= end else {
            throw .damaged(
                "A frame does not verify although it had been synchronized (up to \(watermark)): this is no torn tail.",
                managed.path, end)
        }
        return SegmentEnd(
            end: end, head: scanner.previousHead, durable: known.end, durableHead: known.head, length: length)
    }
}
