import FaultlineDisk

/// Reads the transactions of a store's log one after the other, without its tables.
///
/// The files may be a copy: each may be longer than its valid frames.
///
/// Memory: one frame.
package struct LogWalk {
    private let directory: StoreDirectory
    private let state: ManifestState

    /// - Parameters:
    ///   - directory: The directory of the files.
    ///   - state: The manifest that lists them.
    package init(_ directory: StoreDirectory, _ state: ManifestState) {
        self.directory = directory
        self.state = state
    }

    /// The place from which the log can be read: the checkpoint's, or the log's beginning.
    ///
    /// - Parameter fromBeginning: Whether to ignore the checkpoint.
    /// - Returns: Nil if no hot segment is listed.
    package func start(fromBeginning: Bool = false) -> LogPlace? {
        guard let first = state.numbers(of: .hotSegment).first else { return nil }
        if !fromBeginning, let checkpoint = state.checkpoint { return LogPlace(checkpoint) }
        return LogPlace(.beginning(of: [first]))
    }

    /// Whether the state has a checkpoint: without one, tables are built from all segments together.
    package var hasCheckpoint: Bool { state.checkpoint?.file ?? 0 != 0 }

    /// Whether the listed hot segments are the whole log, so that each of its states can be built from them.
    ///
    /// Compaction may have copied records of them to cold segments.
    package var isWhole: Bool { state.hasLogBeginning && state.isLogContinuous() }

    /// Calls `body` with the end of each transaction behind a place, in order, until it returns false.
    ///
    /// The walk ends at the first frame that does not verify in an unsealed segment, and where a segment does not
    /// continue the one before.
    ///
    /// - Parameters:
    ///   - start: The place; one that `start` or a walk gave.
    ///   - body: Gets each end, and the segments of the large values that the transaction placed, those of an abandoned
    ///     one before it included.
    /// - Throws: `.damaged` if a frame of a sealed segment does not verify, or a file is missing; disk errors; errors of
    ///   `body`.
    package func forEachTransaction(
        from start: LogPlace, _ body: (LogPlace, Set<UInt64>) throws(LogError) -> Bool
    ) throws(LogError) {
        var sequence = start.sequence
        var placed: Set<UInt64> = []
        for number in state.numbers(of: .hotSegment) where number >= start.segment {
            guard let entry = state.files[number] else { continue }
            let managed = try directory.open(entry, for: .reading)
            let isFirst = number == start.segment
            let length = try onDisk("measuring a segment") { () throws(DiskError) in try managed.file.byteCount() }
            let limit = entry.seal?.end ?? length
            let offset = isFirst ? start.offset : UInt64(FileHeader.byteCount)
            // After a return to an older state the segment may end before the place.
            guard offset <= limit else { return }
            var scanner = FrameScanner(managed, from: offset, previousHead: isFirst ? start.head : 0, limit: limit)
            while let frame = try scanner.next() {
                guard frame.header.kind == .commit else { continue }
                guard frame.header.sequence == sequence + 1 else {
                    // The segment between the two is not there.
                    if frame.offset == UInt64(FileHeader.byteCount) { return }
                    throw .damaged(
                        "A transaction is missing: expected number \(sequence + 1), found \(frame.header.sequence).",
                        managed.path, frame.offset)
                }
                frame.forEachPlacement { placed.insert($1.segment) }
                if frame.header.isContinued { continue }
                guard let record = Replay.closingRecord(frame), record.sequence == sequence + 1 else {
                    throw .damaged("A transaction has no valid closing record.", managed.path, frame.offset)
                }
                sequence = record.sequence
                let end = LogPlace(record, in: number, at: frame.end, head: frame.head)
                guard try body(end, placed) else { return }
                placed.removeAll(keepingCapacity: true)
            }
            // A segment behind it may be of another line: only a seal leads from one to the next.
            guard let seal = entry.seal else { return }
            guard scanner.offset == seal.end else {
                throw .damaged("A sealed segment is damaged.", managed.path, scanner.offset)
            }
        }
    }
}

extension FrameScanner.Frame {
    /// Calls `body` with each large value that a record of the frame places.
    func forEachPlacement(_ body: (RecordID, BlobPlacement) -> Void) {
        guard header.kind == .commit || header.kind == .moved, let start = self.body.baseAddress else { return }
        let none = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        var place = 0
        for _ in 0..<header.recordCount {
            let record = RecordHeader(reading: start + place)
            if record.operation == RecordOperation.put.rawValue, record.table == TableID.blobs.rawValue,
                let (view, _) = try? RecordDecoder.view(
                    start + place, id: record.id, table: record.table,
                    location: Location(segment: 0, byteOffset: 0, byteCount: record.wholeByteCount), scratch: none),
                let placement = BlobPlacement(reading: view.row)
            {
                body(record.id, placement)
            }
            place += record.wholeByteCount
        }
    }
}
