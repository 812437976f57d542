import FaultlineDisk

/// Copies the blobs of chosen segments to a new segment, chunk by chunk, and commits their new placements in small
/// transactions.
///
/// Owners are not rewritten, because only the placement says where a blob lies. A large blob is copied in several
/// steps, between which other threads get the lock.
///
/// Memory: one mebibyte, and 8 bytes for each chunk of the blob being copied.
final class BlobMover {
    /// Blobs copied for one transaction.
    private static let batchCountMax = 64
    /// Bytes copied in one step.
    private static let batchByteCountMax: UInt64 = 1 << 20
    /// Bytes of an unfinished blob after which they are synchronized, so that its last step has little left to do.
    private static let unsynchronizedByteCountMax: UInt64 = 8 << 20
    /// Placements examined in one step.
    private static let lookCountMax = 8 * TablePage.entryCount

    /// A blob that was copied but has no new placement yet.
    private struct Copy {
        let id: RecordID
        let location: Location
        /// The old placement.
        let source: BlobPlacement
        let placement: BlobPlacement
    }

    /// A blob of which some chunks were copied.
    private struct Copying: ~Copyable {
        let id: RecordID
        let location: Location
        /// The old placement.
        let source: BlobPlacement
        let owner: BlobOwner
        var reader: BlobReader
        var writer: BlobWriter
        var nextChunk = 0
        var unsynchronizedByteCount: UInt64 = 0
    }

    /// Segments that nothing needs when all is done, without those of which something could not be copied.
    private(set) var victims: Set<UInt64>
    /// Damage found since the last step began.
    private(set) var damage: [(segment: UInt64, error: LogError)] = []
    private let directory: StoreDirectory
    private let manifest: Manifest
    private let publisher: Publisher
    private let sequencer: Sequencer
    private let options: LogOptions
    private let begun: UInt64
    private var segment: BlobSegment?
    private var copying: Copying?
    private var next: RecordID = 1
    /// Bytes of the segments written before `segment`, and of the transactions that placed the copies.
    private var earlierByteCount: UInt64 = 0

    /// A mover for some sealed blob segments; `begun` is a published transaction no newer than any that will be
    /// examined.
    init(
        _ victims: Set<UInt64>, directory: StoreDirectory, manifest: Manifest, publisher: Publisher,
        sequencer: Sequencer, options: LogOptions, begun: UInt64
    ) {
        self.victims = victims
        self.directory = directory
        self.manifest = manifest
        self.publisher = publisher
        self.sequencer = sequencer
        self.options = options
        self.begun = begun
    }

    /// All bytes written so far: copies, their headers, and their placements.
    var writtenByteCount: UInt64 { earlierByteCount + (segment?.end ?? 0) }

    /// Copies and places some blobs.
    ///
    /// - Returns: Whether those were the last ones, and the bytes copied.
    /// - Throws: Disk errors.
    func step() throws(LogError) -> (isDone: Bool, byteCount: UInt64) {
        damage.removeAll()
        let snapshot = publisher.snapshot
        let end = snapshot.nextID(of: .blobs)
        var copies: [Copy] = []
        var byteCount: UInt64 = 0
        var lookCount = 0
        while copies.count < Self.batchCountMax, byteCount < Self.batchByteCountMax, lookCount < Self.lookCountMax {
            if copying == nil {
                guard next < end else { break }
                try begin(next, snapshot)
                next += 1
                lookCount += 1
            }
            byteCount += try goOn(Self.batchByteCountMax - byteCount, snapshot, &copies)
        }
        if let segment, !copies.isEmpty {
            try segment.synchronize(through: segment.end, site: "compaction.blobs")
            try place(copies, in: segment)
            if copying == nil, segment.end >= sequencer.account.segmentByteCount { try seal() }
        }
        return (next >= end && copying == nil, byteCount)
    }

    /// Begins to copy a blob if it lies in a victim.
    private func begin(_ id: RecordID, _ snapshot: Snapshot) throws(LogError) {
        let location = try snapshot.location(of: id, in: .blobs)
        if location.isAbsent { return }
        let placement: BlobPlacement
        do throws(LogError) {
            guard let found = try snapshot.placement(of: id), victims.contains(found.segment) else { return }
            placement = found
        } catch {
            guard error.code == .damaged else { throw error }
            // Its segment is unknown: it may be any of them.
            for victim in victims { damage.append((victim, error)) }
            victims.removeAll()
            return
        }
        let target = try openSegment()
        do throws(LogError) {
            let reader = try snapshot.blobReader(id, placement)
            let owner = try reader.owner()
            copying = Copying(
                id: id, location: location, source: placement, owner: owner, reader: reader,
                writer: BlobWriter(target, isCompressing: false))
        } catch {
            try skip(placement, error)
        }
    }

    /// Copies part of the current blob, about `limit` bytes; completes the blob with its last part.
    ///
    /// - Returns: The bytes copied.
    private func goOn(
        _ limit: UInt64, _ snapshot: Snapshot, _ copies: inout [Copy]
    ) throws(LogError) -> UInt64 {
        guard var blob = copying.take() else { return 0 }
        let target = blob.writer.segment
        // The blob was deleted in the meantime, so the rest is not needed.
        guard try snapshot.location(of: blob.id, in: .blobs) == blob.location else {
            target.skipGivenUpBytes()
            return 0
        }
        let (id, location, source) = (blob.id, blob.location, blob.source)
        var byteCount: UInt64 = 0
        do throws(LogError) {
            while blob.nextChunk < blob.reader.chunkCount {
                if byteCount >= limit {
                    blob.unsynchronizedByteCount += byteCount
                    if blob.unsynchronizedByteCount >= Self.unsynchronizedByteCountMax {
                        try target.synchronizeUnfinished(site: "compaction.blobs")
                        blob.unsynchronizedByteCount = 0
                    }
                    copying = consume blob
                    return byteCount
                }
                byteCount += try blob.writer.append(chunk: blob.nextChunk, of: &blob.reader)
                blob.nextChunk += 1
            }
            let owner = blob.owner
            copies.append(
                Copy(
                    id: id, location: location, source: source,
                    placement: try blob.writer.finish(id: id, owner: owner)))
        } catch {
            target.skipGivenUpBytes()
            try skip(source, error)
        }
        return byteCount
    }

    /// Leaves a damaged blob in place; its segment can then not be dropped.
    private func skip(_ placement: BlobPlacement, _ error: LogError) throws(LogError) {
        guard error.code == .damaged else { throw error }
        victims.remove(placement.segment)
        damage.append((placement.segment, error))
    }

    /// Places the copies, each unless the blob was deleted since; returns when that is published.
    private func place(_ copies: [Copy], in segment: BlobSegment) throws(LogError) {
        let ending = try sequencer.inTurn(isCompacting: true) { () throws(LogError) in
            if let failure = publisher.failure { throw failure }
            sequencer.account.segments.setEnd(segment.end, of: segment.managed.number)
            let before = sequencer.account.segments.byteCount
            for copy in copies {
                guard try sequencer.tables.location(of: copy.id, in: TableID.blobs.rawValue) == copy.location else {
                    let number = UInt32(truncatingIfNeeded: segment.managed.number)
                    sequencer.account.segments.addDead(copy.placement.storedByteCount, of: number)
                    continue
                }
                let original = UInt32(truncatingIfNeeded: copy.source.segment)
                sequencer.account.dead.add(copy.source.storedByteCount, of: original)
                try sequencer.put(
                    copy.id, in: .blobs, layout: 0, changed: 0, flags: .noIndexChange,
                    byteCount: BlobPlacement.byteCount
                ) { bytes in
                    if let start = bytes.baseAddress { copy.placement.write(to: start) }
                }
            }
            let ending = try sequencer.end(author: nil)
            earlierByteCount += sequencer.account.segments.byteCount - before
            return ending
        }
        guard let request = ending.request else { return }
        sequencer.committer.finish(request, leads: ending.leads)
        if let failure = request.failure { throw failure }
    }

    // MARK: The segment written to

    private func openSegment() throws(LogError) -> BlobSegment {
        if let segment, !segment.hasFailed { return segment }
        try seal()
        try manifest.makeRoom()
        let fresh = try BlobSegment.make(
            in: directory, manifest, publisher, begun: begun, headerSite: "compaction.blobheader",
            directorySite: "compaction.blobdirectory")
        segment = fresh
        return fresh
    }

    /// Seals the segment; all blobs placed there are durable.
    func seal() throws(LogError) {
        let edits = sealEdits()
        guard !edits.isEmpty else { return }
        try manifest.commit(edits)
        releaseReserve()
        if let segment { directory.letRest(segment.managed) }
        earlierByteCount = writtenByteCount
        segment = nil
    }

    /// Frees the reserved space.
    func releaseReserve() { segment?.managed.releaseReserve() }

    /// The durable end of the segment that is being written.
    var openEnd: (number: UInt64, end: UInt64)? { segment.map { ($0.managed.number, $0.durable) } }

    /// The edits that seal the segment.
    func sealEdits() -> [ManifestEdit] {
        guard let segment else { return [] }
        return [
            .fileSealed(
                SealedFile(
                    number: segment.managed.number, end: segment.durable, chain: 0, firstSequence: begun,
                    lastSequence: publisher.snapshot.sequence))
        ]
    }
}
