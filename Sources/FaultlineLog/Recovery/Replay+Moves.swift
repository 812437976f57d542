import FaultlineDisk

extension Replay {
    /// Takes in what a cold segment holds, from a place on.
    ///
    /// Over a checkpoint: a move, where the table still names the place that it moved from; anything else was overtaken.
    /// Where the tables are made from the segments alone: each record that is not older than what is known of its object.
    ///
    /// - Parameters:
    ///   - managed: The segment's file.
    ///   - position: Where to begin.
    ///   - end: Where the frames end that count; all before must verify.
    ///   - chain: headCRC of the last of them; 0 if it is not known.
    /// - Throws: `.damaged` if a frame before the end does not verify, or is none that belongs there.
    mutating func replayCold(
        _ managed: ManagedFile, from position: MovePosition, end: UInt64, chain: UInt32
    ) throws(LogError) {
        guard position.offset < end else { return }
        var scanner = FrameScanner(
            managed, from: position.offset, previousHead: position.previousHead, limit: end)
        while let frame = try scanner.next() {
            if frame.header.kind == nil { continue }
            var headByteCount = UInt64(FrameHeader.byteCount + frame.body.count)
            try MovedRecords.forEach(in: frame, of: managed) { (record) throws(LogError) in
                if newest == nil { try move(record, in: managed) } else { try take(record, in: managed) }
                headByteCount -= UInt64(record.header.wholeByteCount)
            }
            dead[UInt32(truncatingIfNeeded: managed.number), default: 0] += headByteCount
            try spillIfNeeded()
        }
        guard scanner.offset == end, chain == 0 || scanner.previousHead == chain else {
            throw .damaged("A cold segment is damaged.", managed.path, scanner.offset)
        }
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
        case .dropTable:
            newest?.noteDrop(of: header.table, sequence: sequence)
            try removeDropped(of: header.table)
        default:
            throw .damaged("A cold segment holds a record of another kind.", managed.path, record.offset)
        }
    }

    /// Takes out what a table had before it was dropped.
    private mutating func removeDropped(of table: UInt16) throws(LogError) {
        let snapshot = Snapshot(sequence: sequence, tables: tables.capture(), indexes: .empty, files: files)
        try snapshot.forEachLocation(of: TableID(rawValue: table)) { (id, _) throws(LogError) in
            guard try newest?.isDropped(id, in: table) == true else { return }
            _ = try tables.replace(id, in: table, with: .absent)
        }
    }

    /// Where the frames of a cold segment end that are known to be durable.
    ///
    /// What lies behind says where records were moved to, not more: without it they are where they were.
    ///
    /// - Parameters:
    ///   - managed: A segment that was being written.
    ///   - position: Where its replay begins.
    ///   - durable: What the manifest knows to be durable, and headCRC of the frame that ends there.
    /// - Returns: Where the frames that verify end, and how far they are known to be durable.
    /// - Throws: `.damaged` if a frame does not verify that had been synchronized.
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
