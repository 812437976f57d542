import FaultlineDisk
import FaultlineLog

/// Reads all of a store and compares the parts that should agree.
///
/// It reads one snapshot; writers continue.
struct Verifier {
    let directory: StoreDirectory
    let state: ManifestState
    let snapshot: Snapshot
    let deriver: any IndexDeriver
    /// The ends of the frames in the segments that are being written.
    let openEnds: [UInt64: UInt64]
    let finding: (Finding) -> Void
    let progress: (UInt64, UInt64) -> Void

    /// - Throws: Only if the disk does not answer, so that continuing is pointless.
    func run() throws(LogError) {
        let records = snapshot.files.files.filter { $0.kind != .blobSegment }.reduce(UInt64(0)) { $0 + byteCount($1) }
        let blobs = snapshot.files.files.filter { $0.kind == .blobSegment }.reduce(UInt64(0)) { $0 + byteCount($1) }
        // Segments are read twice: by frames, and by the live records.
        var done = VerifierProgress(total: records * 2 + blobs, tell: progress)
        try verifyIdentity()
        for managed in snapshot.files.files where managed.kind == .hotSegment || managed.kind == .coldSegment {
            try verifySegment(managed, &done)
        }
        var indexes = IndexComparison(snapshot: snapshot, deriver: deriver)
        for root in snapshot.tables.all {
            try verifyPages(of: root)
            try verifyRecords(of: TableID(rawValue: root.table), root, &indexes, &done)
        }
        try indexes.finish(finding)
        done.finish()
    }

    private func byteCount(_ managed: ManagedFile) -> UInt64 {
        if let seal = state.files[managed.number]?.seal { return seal.end }
        return openEnds[managed.number] ?? 0
    }

    func verifyIdentity() throws(LogError) {
        let path = directory.path(of: FileName.identity)
        do {
            if try IdentityFile.read(path, on: directory.disk, demandsBoth: true) == nil {
                finding(Finding(.damage, "The store's identity is missing.", path: path))
            }
        } catch {
            guard error.code == .damaged || error.code == .notAStore else { throw error }
            finding(Finding(error))
        }
    }

    /// Checks that the frames verify to the segment's end, and that the frame at an end in the manifest has the headCRC
    /// there.
    private func verifySegment(_ managed: ManagedFile, _ done: inout VerifierProgress) throws(LogError) {
        let entry = state.files[managed.number]
        let end = byteCount(managed)
        var scanner = FrameScanner(managed, from: UInt64(FileHeader.byteCount), previousHead: 0, limit: max(end, 64))
        // For a sealed segment, the headCRC that it was sealed with.
        var head: UInt32?
        while let frame = try scanner.next() {
            done.add(frame.end - frame.offset)
            if frame.end == entry?.durable { head = frame.head }
        }
        if scanner.offset != end {
            finding(Finding(.damage, "A frame does not verify.", path: managed.path, offset: scanner.offset))
        } else if let entry, entry.durableHead != 0, entry.durableHead != head {
            finding(
                Finding(
                    .damage, "The segment's frames are not those that the manifest knows.", path: managed.path,
                    offset: entry.durable))
        }
    }

    /// Checks that stored pages verify, and that their counts add up.
    func verifyPages(of root: TableRoot) throws(LogError) {
        let page = UnsafeMutableRawPointer.allocate(byteCount: TablePage.byteCount, alignment: 64)
        defer { page.deallocate() }
        var recordCount = 0
        var lastID: RecordID = 0
        for number in 0..<root.pageCount {
            guard let handle = root.handle(ofPage: number) else { continue }
            do {
                if let place = root.cache.storedPlace(handle) {
                    try PageCache.read(place.file, place.index, table: root.table, number: UInt32(number), into: page)
                    if place.entryCount != page[TablePage.Fields.count] {
                        finding(
                            Finding(
                                .contradiction,
                                "The page map counts \(place.entryCount) objects, page \(number) \(page[TablePage.Fields.count]).",
                                path: place.file.managed.path, table: TableID(rawValue: root.table)))
                    }
                }
                try root.cache.copy(handle, to: page)
            } catch {
                guard error.code == .damaged else { throw error }
                finding(Finding(error, table: TableID(rawValue: root.table)))
                continue
            }
            var count = 0
            for entry in 0..<TablePage.entryCount
            where !Location(reading: page + (TablePage.headerByteCount + entry * Location.byteCount)).isAbsent {
                count += 1
                lastID = UInt64(number * TablePage.entryCount + entry) + 1
            }
            if count != Int(page[TablePage.Fields.count]) {
                finding(
                    Finding(
                        .contradiction,
                        "Page \(number) holds \(count) objects and counts \(page[TablePage.Fields.count]).",
                        table: TableID(rawValue: root.table)))
            }
            recordCount += count
        }
        if recordCount != root.recordCount {
            finding(
                Finding(
                    .contradiction, "The table holds \(recordCount) objects and counts \(root.recordCount).",
                    table: TableID(rawValue: root.table)))
        }
        if lastID >= root.nextID {
            finding(
                Finding(
                    .contradiction, "Identifier \(lastID) is in use, but \(root.nextID) would be given next.",
                    table: TableID(rawValue: root.table), id: lastID))
        }
    }

    private func verifyRecords(
        of table: TableID, _ root: TableRoot, _ indexes: inout IndexComparison, _ done: inout VerifierProgress
    ) throws(LogError) {
        var buffer = RecordBuffer()
        do throws(LogError) {
            try snapshot.forEachLocation(of: table) { (id, location) throws(LogError) in
                do throws(LogError) {
                    done.add(UInt64(location.byteCount ?? 0))
                    guard let view = try snapshot.read(id, in: table, into: &buffer) else { return }
                    if table == .blobs {
                        try verifyBlob(id, &done)
                    } else {
                        indexes.add(view, of: table)
                    }
                } catch {
                    guard error.code == .damaged else { throw error }
                    finding(Finding(error, table: table, id: id))
                    indexes.noteUnreadable(in: table)
                }
            }
        } catch {
            // The unreadable page has been reported.
            guard error.code == .damaged else { throw error }
            indexes.noteUnreadable(in: table)
        }
    }

    private func verifyBlob(_ id: RecordID, _ done: inout VerifierProgress) throws(LogError) {
        guard let placement = try snapshot.placement(of: id) else { return }
        done.add(placement.storedByteCount)
        var reader = try snapshot.blobReader(id, placement)
        try reader.verify()
    }
}
