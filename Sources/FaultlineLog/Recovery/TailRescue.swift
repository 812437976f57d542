import FaultlineDisk

/// Makes the transactions behind the last known sync durable: in their place, or as copies in a new segment.
///
/// No sync is known to have covered them, so the bytes just read may not be on the disk, even if the system calls them
/// clean. If they are copied, the old segment is then sealed at the sync: nothing is ever appended to it, or cut from
/// it.
enum TailRescue {
    /// Writes the frames from the last known sync to the end of the log once more, byte for byte, and makes them
    /// durable.
    ///
    /// A crash in the middle leaves the same bytes, or those that the disk had.
    ///
    /// - Parameters:
    ///   - managed: The last segment of the log.
    ///   - durable: The end of the frames that a sync is known to have covered, and headCRC of the last one.
    ///   - end: The end of the frames that verify.
    /// - Throws: Disk errors; `.damaged` if the frames do not verify any more.
    static func writeAgain(
        _ managed: ManagedFile, from durable: (offset: UInt64, head: UInt32), through end: UInt64
    ) throws(LogError) {
        guard durable.offset < end else { return }
        var scanner = FrameScanner(managed, from: durable.offset, previousHead: durable.head, limit: end)
        while let frame = try scanner.next() {
            guard let body = frame.body.baseAddress else { continue }
            let bytes = UnsafeRawBufferPointer(
                start: body - FrameHeader.byteCount, count: FrameHeader.byteCount + frame.body.count)
            try onDisk("rescuing transactions") { () throws(DiskError) in
                try managed.file.write(bytes, at: frame.offset)
            }
        }
        guard scanner.offset == end else {
            throw .damaged("A frame cannot be read again.", managed.path, scanner.offset)
        }
        try onDisk("making rescued transactions durable") { () throws(DiskError) in
            try managed.file.synchronize(site: "recovery.tail")
        }
    }

    struct Result {
        let segment: ManagedFile
        let end: UInt64
        let head: UInt32
    }

    /// Creates the new segment, makes it durable, and points the tables at it.
    ///
    /// Frames that end at `durable` or before stay in the old segment, and so do those in other files.
    static func rescue(
        _ transactions: [Replay.Passed], from old: ManagedFile, durable: UInt64, tables: inout WorkingTables,
        in directory: StoreDirectory
    ) throws(LogError) -> Result {
        let fresh = try directory.create(.hotSegment)
        // If the opening fails, the next one removes the file.
        fresh.noteListed()
        var end = UInt64(FileHeader.byteCount)
        var head: UInt32 = 0
        for transaction in transactions {
            var first: (segment: UInt64, offset: UInt64) = (transaction.record.segment, transaction.record.offset)
            for (part, place) in transaction.frames.enumerated() {
                if place.file === old, place.end > durable {
                    if part == 0 { first = (fresh.number, end) }
                    (end, head) = try copy(
                        place, part: part, first: first, to: fresh, at: end, previousHead: head, tables: &tables)
                }
            }
        }
        try onDisk("making rescued transactions durable") { () throws(DiskError) in
            try fresh.file.synchronize(site: "recovery.rescued")
        }
        try directory.synchronize(site: "recovery.directory")
        return Result(segment: fresh, end: end, head: head)
    }

    private static func copy(
        _ place: Replay.Place, part: Int, first: (segment: UInt64, offset: UInt64), to fresh: ManagedFile,
        at offset: UInt64,
        previousHead: UInt32, tables: inout WorkingTables
    ) throws(LogError) -> (end: UInt64, head: UInt32) {
        var scanner = FrameScanner(place.file, from: place.offset, previousHead: 0, limit: place.end)
        guard let frame = try scanner.nextUnchained(), let body = frame.body.baseAddress else {
            throw .damaged("A frame cannot be read again.", place.file.path, place.offset)
        }
        let whole = FrameHeader.byteCount + frame.body.count
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: whole, alignment: 16)
        defer { copy.deallocate() }
        guard let start = copy.baseAddress else { return (offset, previousHead) }
        (start + FrameHeader.byteCount).copyMemory(from: body, byteCount: frame.body.count)

        var position = FrameHeader.byteCount
        var headersCRC: UInt32 = 0
        for _ in 0..<frame.header.recordCount {
            let record = start + position
            let header = RecordHeader(reading: record)
            let source = place.offset + UInt64(position)
            let target = offset + UInt64(position)
            // Bound to the new offset; the bytes under the checksum have not changed.
            record[RecordHeader.Fields.checksum] ^=
                place.file.recordBinding(at: source) ^ fresh.recordBinding(at: target)
            if header.operation == RecordOperation.transaction.rawValue {
                record.set(first.segment, RecordHeader.byteCount + 48)
                record.set(first.offset, RecordHeader.byteCount + 56)
                RecordHeader.seal(record, header.wholeByteCount, binding: fresh.recordBinding(at: target))
            } else if header.operation == RecordOperation.put.rawValue {
                let before = Location(
                    segment: place.file.number, byteOffset: source, byteCount: header.wholeByteCount)
                if try tables.location(of: header.id, in: header.table) == before {
                    let after = Location(
                        segment: fresh.number, byteOffset: target, byteCount: header.wholeByteCount)
                    _ = try tables.replace(header.id, in: header.table, with: after)
                }
            }
            headersCRC = CRC32C.checksum(record, RecordHeader.byteCount, seed: headersCRC)
            position += header.wholeByteCount
        }
        let header = FrameHeader(
            kind: .commit, bodyByteCount: frame.body.count, headersCRC: headersCRC,
            recordCount: frame.header.recordCount,
            flags: frame.header.flags | FrameHeader.flagRescued, sequence: frame.header.sequence, durable: 0,
            previousHead: previousHead,
            part: UInt32(part),
            spill: first.segment == fresh.number ? first.offset : 0)
        let head = header.write(to: start, at: offset, of: fresh.header)
        try onDisk("rescuing transactions") { () throws(DiskError) in
            try fresh.file.write(UnsafeRawBufferPointer(copy), at: offset)
        }
        return (offset + UInt64(whole), head)
    }
}
