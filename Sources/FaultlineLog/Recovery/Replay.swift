import FaultlineDisk

/// Brings tables and indexes up to the end of the log, transaction by transaction.
///
/// Invariants:
/// - tables and memtables hold whole transactions only, in the order of their sequence numbers;
/// - `unsettled` names the transactions of the last segment that no sync is known to have covered.
///
/// Memory: one frame, and the memory of tables and memtables. Partial frames are kept by their position and read again
/// at their transaction's end.
struct Replay {
    /// The position of a frame.
    struct Place {
        let file: ManagedFile
        let offset: UInt64
        let head: UInt32
        let end: UInt64
    }
    /// A transaction of the last segment.
    struct Passed {
        let frames: [Place]
        let record: TransactionRecord
        var end: UInt64 { frames.last?.end ?? 0 }
    }

    var tables: WorkingTables
    var memtables: IndexReplay
    var files: FileTable
    /// Nil when opened for reading: then nothing is written, and memory grows with the log since the checkpoint.
    let spill: ReplaySpill?
    private(set) var sequence: UInt64
    private(set) var wallNanoseconds: Int64
    var byteCount: UInt64 = 0
    private(set) var transactionCount = 0
    /// Ends of blobs placed by replayed transactions, by segment.
    private(set) var blobEnds: [UInt64: UInt64] = [:]
    /// The newest versions, if the tables are built from segments that are not one log any more; nil if the log is
    /// replayed.
    var newest: NewestVersions?
    /// Bytes of segments that the replay made dead, by the low 32 bits of the segment's number.
    var dead: [UInt32: UInt64] = [:]
    /// Whether a table was dropped, whose dead bytes are not counted.
    private(set) var hasDroppedTable = false
    /// Passes over tables that were dropped.
    var droppedTablePassCount = 0

    private var parts: [Place] = []
    /// Parts of the current transaction in segments which compaction dropped.
    private var droppedPartCount = 0
    var unsettled: [Passed] = []
    /// Nil unless invariants are checked.
    var watch: ReplayWatch?

    init(
        tables: WorkingTables, memtables: IndexReplay, files: FileTable, spill: ReplaySpill?, sequence: UInt64,
        wallNanoseconds: Int64, watch: ReplayWatch? = nil
    ) {
        self.watch = watch
        self.spill = spill
        self.tables = tables
        self.memtables = memtables
        self.files = files
        self.sequence = sequence
        self.wallNanoseconds = wallNanoseconds
    }

    /// The end of a segment's valid frames, and the bytes behind.
    struct SegmentEnd {
        /// The offset of the first byte that belongs to no valid frame.
        let end: UInt64
        let head: UInt32
        /// The offset up to which a sync is known to have succeeded.
        let durable: UInt64
        /// headCRC of the frame that ends at `durable`.
        let durableHead: UInt32
        /// Bytes of the file, without the zeros at its end.
        let length: UInt64
    }

    /// Skips the transactions that compaction dropped before a hot segment, if the tables are built from the segments
    /// alone.
    mutating func skipDropped(before begun: UInt64) {
        guard newest != nil, sequence < begun else { return }
        sequence = begun
        parts.removeAll()
        droppedPartCount = 0
    }

    /// Replays a sealed segment, all of which must verify.
    mutating func replaySealed(
        _ managed: ManagedFile, seal: SealedFile, from offset: UInt64, previousHead: UInt32
    ) throws(LogError) {
        var scanner = FrameScanner(managed, from: offset, previousHead: previousHead, limit: seal.end)
        while let frame = try scanner.next() {
            try take(frame, of: managed, isLast: false)
            watch?.check(self)
        }
        guard scanner.offset == seal.end, seal.chain == 0 || scanner.previousHead == seal.chain else {
            throw .damaged("A sealed segment is damaged.", managed.path, scanner.offset)
        }
        byteCount += seal.end - offset
    }

    /// Replays the segment that was being written, up to the first frame that does not verify.
    ///
    /// - Parameters:
    ///   - managed: The segment's file.
    ///   - offset: The start: behind its header, or at the checkpoint's position.
    ///   - previousHead: headCRC of the frame before `offset`, which the first frame must name.
    ///   - durable: The durable end by the manifest; at or behind `offset`.
    ///   - durableHead: headCRC of the frame that ends at `durable`.
    ///   - limit: Frames from here on are not read; nil means to the end of the file.
    /// - Returns: The end of the frames that verify, and the end of those known to be durable.
    /// - Throws: `.damaged` if the first invalid frame had been synchronized: damage, and no torn tail.
    mutating func replayOpen(
        _ managed: ManagedFile, from offset: UInt64, previousHead: UInt32, durable: UInt64, durableHead: UInt32,
        limit: UInt64?
    ) throws(LogError) -> SegmentEnd {
        let length = try onDisk("reading a segment") { () throws(DiskError) in try managed.file.byteCount() }
        var scanner = FrameScanner(
            managed, from: offset, previousHead: previousHead, limit: min(length, limit ?? length))
        var known = (end: durable, head: durableHead)
        // Frames behind `known.end`: one of them may prove to be the last durable one.
        var recent: [(end: UInt64, head: UInt32)] = []
        while let frame = try scanner.next() {
            try take(frame, of: managed, isLast: true)
            recent.append((frame.end, frame.head))
            if scanner.durable > known.end, let place = recent.firstIndex(where: { $0.end == scanner.durable }) {
                known = recent[place]
                recent.removeSubrange(...place)
            }
            settle(max(scanner.durable, durable))
            watch?.check(self)
        }
        let end = scanner.offset
        let head = scanner.previousHead
        var watermark = max(scanner.durable, durable)
        if limit == nil, end < length { watermark = max(watermark, try scanner.largestWatermarkBehind()) }
        guard watermark <= end else {
            throw .damaged(
                "A frame does not verify although it had been synchronized (up to \(watermark)): this is no torn tail.",
                managed.path, end)
        }
        byteCount += end - offset
        // Zeros prepared for commits that did not come.
        let used = try onDisk("reading a segment") { () throws(DiskError) in
            try managed.file.endWithoutZeros(from: end)
        }
        return SegmentEnd(
            end: end, head: head, durable: max(known.end, durable), durableHead: known.head, length: used)
    }

    /// Transactions that end behind `durable` in the last segment.
    func transactions(behind durable: UInt64) -> [Passed] { unsettled.filter { $0.end > durable } }

    /// Forgets the transactions that a sync is known to have covered.
    private mutating func settle(_ durable: UInt64) {
        watch?.settledEnd = durable
        guard let first = unsettled.first, first.end <= durable else { return }
        unsettled.removeAll { $0.end <= durable }
    }

    private mutating func take(_ frame: FrameScanner.Frame, of managed: ManagedFile, isLast: Bool) throws(LogError) {
        switch frame.header.kind {
        case .commit: break
        case .mark, nil: return
        case .block: throw .newerFormat("The segment holds a frame", managed.path, frame.offset)
        case .moved, .blob, .edit:
            throw .damaged("A segment holds a frame of another kind.", managed.path, frame.offset)
        }
        guard frame.header.sequence == sequence + 1 else {
            throw .damaged(
                "A transaction is missing: expected number \(sequence + 1), found \(frame.header.sequence).",
                managed.path, frame.offset)
        }
        // An abandoned transaction leaves parts; the next one begins at part 0 again.
        if frame.header.part == 0 {
            parts.removeAll()
            droppedPartCount = 0
        }
        if Int(frame.header.part) != droppedPartCount + parts.count {
            // Only compaction removes the beginning of a transaction, and then the whole segment with it.
            guard newest != nil, frame.offset == UInt64(FileHeader.byteCount) else {
                throw .damaged("A part of a transaction is missing.", managed.path, frame.offset)
            }
            parts.removeAll()
            droppedPartCount = Int(frame.header.part)
        }
        parts.append(Place(file: managed, offset: frame.offset, head: frame.head, end: frame.end))
        dead[UInt32(truncatingIfNeeded: managed.number), default: 0] += UInt64(FrameHeader.byteCount)
        if frame.header.isContinued { return }

        guard let record = Self.closingRecord(frame), record.sequence == sequence + 1, hasBeginning(record) else {
            throw .damaged("A transaction has no valid closing record.", managed.path, frame.offset)
        }
        tables.sequence = record.sequence
        watch?.begin(record, tables)
        var changesCatalog = false
        for part in parts.dropLast() {
            var again = FrameScanner(part.file, from: part.offset, previousHead: 0, limit: part.end)
            guard let whole = try again.nextUnchained() else {
                throw .damaged("A part of a transaction cannot be read again.", part.file.path, part.offset)
            }
            try apply(whole, of: part.file, record.sequence, &changesCatalog)
            try spillIfNeeded()
        }
        try apply(frame, of: managed, record.sequence, &changesCatalog)
        sequence = record.sequence
        wallNanoseconds = max(wallNanoseconds, record.wallNanoseconds)
        transactionCount += 1
        if isLast { unsettled.append(Passed(frames: parts, record: record)) } else { unsettled.removeAll() }
        parts.removeAll()
        // If built from the segments alone, the catalog is complete only when all are read.
        if changesCatalog, newest == nil { try memtables.catalogChanged(tables, files) }
        try spillIfNeeded()
    }

    /// Whether the parts belong to the transaction with that closing record; removes parts of an abandoned one from
    /// before segments that compaction dropped.
    private mutating func hasBeginning(_ record: TransactionRecord) -> Bool {
        guard let first = parts.first else { return false }
        if record.segment == first.file.number, record.offset == first.offset { return true }
        guard newest != nil, files.find(UInt32(truncatingIfNeeded: record.segment)) == nil else { return false }
        parts.removeAll { $0.file.number <= record.segment }
        return !parts.isEmpty
    }

    /// Keeps memory within the budget.
    mutating func spillIfNeeded() throws(LogError) {
        try spill?.spillIfNeeded(&tables, &memtables, &newest)
    }

    /// The transaction record that ends the last frame of a transaction.
    static func closingRecord(_ frame: FrameScanner.Frame) -> TransactionRecord? {
        guard let body = frame.body.baseAddress, frame.header.recordCount > 0 else { return nil }
        var place = 0
        for _ in 1..<frame.header.recordCount { place += RecordHeader(reading: body + place).wholeByteCount }
        let header = RecordHeader(reading: body + place)
        guard header.operation == RecordOperation.transaction.rawValue, header.table == 0 else { return nil }
        return TransactionRecord(
            reading: UnsafeRawBufferPointer(start: body + place + RecordHeader.byteCount, count: header.storedByteCount)
        )
    }

    private mutating func apply(
        _ frame: FrameScanner.Frame, of managed: ManagedFile, _ sequence: UInt64, _ changesCatalog: inout Bool
    ) throws(LogError) {
        guard let body = frame.body.baseAddress else { return }
        var place = 0
        for _ in 0..<frame.header.recordCount {
            let header = RecordHeader(reading: body + place)
            let whole = header.wholeByteCount
            let offset = frame.offset + UInt64(FrameHeader.byteCount + place)
            place += whole
            let record = body + (place - whole)
            guard header.isUnderstood else { throw .newerFormat("The segment holds a record", managed.path, offset) }
            switch RecordOperation(rawValue: header.operation) {
            case .put:
                guard Self.isIdentifier(header.id) else {
                    throw .damaged("A record has no valid identifier.", managed.path, offset)
                }
                guard try isNewest(header, sequence) else { continue }
                let location = Location(segment: managed.number, byteOffset: offset, byteCount: whole)
                let old = try tables.replace(header.id, in: header.table, with: location)
                noteDead(old, of: header)
                try memtables.put(record, header, at: location, over: old, sequence: sequence, files: files)
                if header.table == TableID.blobs.rawValue { noteBlob(record, header, location) }
                if header.table == TableID.catalog.rawValue { changesCatalog = true }
            case .delete:
                guard Self.isIdentifier(header.id) else {
                    throw .damaged("A record has no valid identifier.", managed.path, offset)
                }
                guard try isNewest(header, sequence) else { continue }
                let old = try tables.replace(header.id, in: header.table, with: .absent)
                noteDead(old, of: header)
                try memtables.delete(header, over: old, sequence: sequence, files: files)
                if header.table == TableID.catalog.rawValue { changesCatalog = true }
            case .dropTable:
                tables.drop(header.table)
                watch?.dropsTable = true
                newest?.noteDrop(of: header.table, sequence: sequence)
                hasDroppedTable = true
            case .transaction:
                dead[UInt32(truncatingIfNeeded: managed.number), default: 0] += UInt64(whole)
            default:
                throw .damaged("A segment holds a record of another kind.", managed.path, offset)
            }
        }
    }

    /// Whether a record is not older than the known version of its object; in a replay of the log, each is newer.
    private mutating func isNewest(_ header: RecordHeader, _ sequence: UInt64) throws(LogError) -> Bool {
        guard newest != nil else { return true }
        return try newest?.note(header.id, in: header.table, sequence: sequence) == true
    }

    /// Counts a replaced version as dead, and the blob that it placed.
    private mutating func noteDead(_ old: Location, of header: RecordHeader) {
        guard !old.isAbsent else { return }
        dead[old.segment, default: 0] += UInt64(old.byteCount ?? 0)
        guard header.table == TableID.blobs.rawValue else { return }
        // A hint: a placement that cannot be read is not counted.
        let placement = try? IndexReplay.row(header.id, .blobs, old, files) { _, view in
            BlobPlacement(reading: view.row)
        }
        guard let placement = placement ?? nil else { return }
        dead[UInt32(truncatingIfNeeded: placement.segment), default: 0] += placement.storedByteCount
    }

    static func isIdentifier(_ id: RecordID) -> Bool { id > 0 && id <= Limits.recordIDMax }

    mutating func noteBlob(_ record: UnsafeRawPointer, _ header: RecordHeader, _ location: Location) {
        let none = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        guard
            let (view, _) = try? RecordDecoder.view(
                record, id: header.id, table: header.table, location: location, scratch: none),
            let placement = BlobPlacement(reading: view.row)
        else { return }
        let end = BlobLayout(recordOffset: placement.offset).end(payloadByteCount: placement.storedByteCount)
        blobEnds[placement.segment] = max(blobEnds[placement.segment] ?? 0, end)
    }
}
