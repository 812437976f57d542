import FaultlineDisk

/// Copies live records and blobs out of segments that are mostly dead, piece by piece, so that these segments can be
/// dropped.
///
/// A checkpoint drops a victim if it is captured after the victim's last record was moved and published. Until then,
/// after any crash, each record lies where the tables of the checkpoint in force say, or where a durable move says.
///
/// Memory: two frames; 40 bytes for each record of a step, at most 65,536 records and those of one more frame; and the
/// live bytes by segment.
///
/// Concurrency: everything is guarded by the checkpoint lock. Lock order: checkpoint lock, writer lock.
// Safe because of the rules in the comment above.
final class Compactor: @unchecked Sendable {
    let directory: StoreDirectory
    let manifest: Manifest
    let publisher: Publisher
    let sequencer: Sequencer
    let options: LogOptions
    private let budget: MemoryBudget

    var cold: ColdSegment?
    /// Segments to take next, in reverse order.
    var waiting: [UInt64] = []
    /// The mover of the current segment, and the last end of a transaction that one has searched for, so that a
    /// transaction in many segments is read once.
    private var reading: (mover: RecordMover?, foundEnd: TransactionEnd.Found?) = (nil, nil)
    private var mover: RecordMover? {
        get { reading.mover }
        set { reading.mover = newValue }
    }
    var blobMover: BlobMover?
    private var frame: MovedFrame?
    /// The new locations of records that are moved and durable, but not all published, and the ending of their mover.
    private var moved = MovedRecordList()
    private var movedTo: (segment: ColdSegment, ending: StepEnding)?
    /// The transaction of the checkpoint when the segments were chosen: durable, and no newer than the examined state.
    var chosenAt: UInt64 = 0
    /// Segments that no table names: they need no reading if no deletes in them are needed.
    var whollyDead: Set<UInt64> = []
    /// Segments that are no longer needed: the next checkpoint drops them.
    var finished: Set<UInt64> = []
    /// Segments that cannot be taken, because of damage.
    var excluded: Set<UInt64> = []
    /// Dropped files that a snapshot may still read.
    private(set) var held: [SnapshotHolds.HeldFile] = []
    var hasPublished = false
    /// Edits that seal blob segments, those of abandoned moves too: for the next checkpoint.
    var owedSeals: [ManifestEdit] = []
    /// Dead bytes at the time when nothing was found worthwhile, or a choice proved not to be, and the bytes of all
    /// segments then, and the number of small segments of one kind.
    var countWithoutChoice: (dead: UInt64, total: UInt64, small: Int) = (0, 0, 0)
    var report = CompactionReport()
    var gain = CompactionGain()
    let damage = CompactionDamage()
    /// The report and the time when the present segments were chosen.
    var begun: (report: CompactionReport, moment: UInt64)?

    init(
        directory: StoreDirectory, manifest: Manifest, publisher: Publisher, sequencer: Sequencer, options: LogOptions,
        budget: MemoryBudget, cold: ColdSegment?
    ) {
        self.directory = directory
        self.manifest = manifest
        self.publisher = publisher
        self.sequencer = sequencer
        self.options = options
        self.budget = budget
        self.cold = cold
    }

    /// Whether segments were chosen and are not done.
    var isUnderWay: Bool { !waiting.isEmpty || mover != nil || blobMover != nil }

    /// Bytes of segments that the next checkpoint may drop.
    var finishedByteCount: UInt64 {
        let state = manifest.state
        return finished.reduce(0) { $0 + (state.files[$1]?.seal?.end ?? 0) }
    }

    // MARK: Moving

    // Not a `Result`: to make that type, the runtime walks through all conformances of the process when the first store
    // is opened.
    /// The ending of the copying part of a step.
    private enum StepEnding {
        case reached(RecordMover.Outcome)
        case failed(LogError)
    }

    /// Bytes of records that end a step, which makes them durable.
    private var stepByteCountMax: UInt64 { UInt64(options.frameByteCount) * 8 }

    /// Moves a piece of the chosen segments: eight frames of records, or a mebibyte of blobs.
    ///
    /// - Returns: The bytes copied.
    /// - Throws: Disk errors. The choice is then dropped; published moves stay.
    func step() throws(LogError) -> UInt64 {
        do throws(LogError) {
            let before = report.movedByteCount
            if mover != nil || !waiting.isEmpty { try moveRecords() } else { try moveBlobs() }
            return report.movedByteCount - before
        } catch {
            giveUp()
            throw error
        }
    }

    /// Drops the choice; published moves stay.
    func giveUp() {
        waiting.removeAll()
        mover = nil
        frame = nil
        moved.removeAll()
        movedTo = nil
        if let blobMover {
            // The blobs that it wrote and placed are in force.
            owedSeals += blobMover.sealEdits()
            blobMover.releaseReserve()
        }
        blobMover = nil
    }

    private func moveRecords() throws(LogError) {
        if mover == nil { mover = try nextMover() }
        guard let mover else {
            frame = nil
            return
        }
        if movedTo == nil {
            let (segment, ending) = copyRecords(of: mover)
            guard let segment, !moved.isEmpty else { return try end(mover, ending) }
            try segment.synchronize()
            report.movedByteCount += moved.byteCount
            noteWritten(moved.byteCount + moved.headByteCount)
            movedTo = (segment, ending)
        }
        guard let movedTo else { return }
        // A checkpoint, for which the rest waits, frees the memory of pages.
        repeat { try publishTurn(to: movedTo.segment) } while !moved.isTaken && !isCheckpointDue
        guard moved.isTaken else { return }
        moved.removeAll()
        self.movedTo = nil
        try end(mover, movedTo.ending)
    }

    private var isCheckpointDue: Bool { sequencer.turn.withLock { sequencer.isCheckpointDue } }

    /// Ends a step of a mover.
    private func end(_ mover: RecordMover, _ ending: StepEnding) throws(LogError) {
        switch ending {
        case .failed(let error):
            throw error
        case .reached(.full):
            return
        case .reached(.done):
            finished.insert(mover.source.number)
        case .reached(.stuck(let file, let offset)):
            note(.damaged("A segment does not verify.", file.path, offset), of: mover.source.number)
        }
        reading.foundEnd = mover.found
        self.mover = nil
        if waiting.isEmpty { frame = nil }
    }

    /// Copies records of a segment until a step is full or none is left.
    ///
    /// Creates no file if there is nothing to copy: on a full disk, wholly dead segments can be dropped.
    ///
    /// - Returns: The target, and the ending: records copied before an error are published too.
    private func copyRecords(of mover: RecordMover) -> (ColdSegment?, StepEnding) {
        let target = frame ?? MovedFrame(byteCountMax: options.frameByteCount, budget: budget)
        frame = target
        var segment: ColdSegment?
        var outcome = RecordMover.Outcome.full
        do throws(LogError) {
            while !moved.isFull(for: stepByteCountMax), case .full = outcome {
                let snapshot = publisher.snapshot
                outcome = try mover.fill(target, snapshot)
                if target.isEmpty { break }
                if segment == nil { segment = try openCold() }
                guard let segment else { break }
                moved.add(
                    try target.write(to: segment, from: mover.source, newest: snapshot.sequence),
                    byteCount: target.byteCount, headByteCount: target.headByteCount)
                target.removeAll()
            }
        } catch {
            return (segment?.hasFailed == true ? nil : segment, .failed(error))
        }
        return (segment, .reached(outcome))
    }

    private func publishTurn(to segment: ColdSegment) throws(LogError) {
        let turn = moved.takeTurn(pageCountMax: max(budget.byteCount / 4 / TablePage.byteCount, 64))
        try sequencer.publish(turn.moves, to: segment, headByteCount: turn.headByteCount)
        hasPublished = true
    }

    private func nextMover() throws(LogError) -> RecordMover? {
        let state = manifest.state
        while let number = waiting.popLast() {
            guard let seal = state.files[number]?.seal, let file = listedFile(number, for: number) else { continue }
            // The segment that must go with it comes earlier and was not finished, so nothing is gained.
            if file.kind == .hotSegment, let beginning = try beginning(of: number, state), !finished.contains(beginning)
            {
                continue
            }
            let others = state.files.values.filter {
                $0.added.number != number && ($0.kind == .hotSegment || $0.kind == .coldSegment)
            }
            let leastBegun = others.map(\.added.begun).min() ?? .max
            if whollyDead.contains(number), leastBegun >= seal.lastSequence {
                finished.insert(number)
                continue
            }
            guard let followers = followers(of: file, state) else { continue }
            return RecordMover(
                file, seal: seal, leastBegun: leastBegun, followers: followers, earlier: reading.foundEnd)
        }
        return nil
    }

    /// The segments in which the last transaction of a hot segment may continue; nil if one of them is missing.
    private func followers(of file: ManagedFile, _ state: ManifestState) -> [TransactionEnd.Follower]? {
        guard file.kind == .hotSegment, let checkpoint = state.checkpoint else { return [] }
        var followers: [TransactionEnd.Follower] = []
        for number in state.numbers(of: .hotSegment) where number > file.number && number <= checkpoint.segment {
            guard let follower = listedFile(number, for: file.number) else { return nil }
            let end = number == checkpoint.segment ? checkpoint.offset : state.files[number]?.seal?.end ?? 0
            followers.append(TransactionEnd.Follower(file: follower, end: end))
        }
        return followers
    }

    /// A segment that the manifest lists; a missing one is reported as damage, and the victim is not taken again.
    private func listedFile(_ number: UInt64, for victim: UInt64) -> ManagedFile? {
        if let file = publisher.snapshot.files.find(UInt32(truncatingIfNeeded: number)) {
            return file.takeUnretainedValue()
        }
        let kind = manifest.state.files[number]?.kind ?? .hotSegment
        note(
            .damaged("A segment that the manifest lists is missing.", directory.path(kind, number)), of: victim)
        return nil
    }

    private func moveBlobs() throws(LogError) {
        guard let blobMover else { return }
        let before = blobMover.writtenByteCount
        let (isDone, movedByteCount) = try blobMover.step()
        report.movedByteCount += movedByteCount
        noteWritten(blobMover.writtenByteCount - before)
        for damage in blobMover.damage { note(damage.error, of: damage.segment) }
        guard isDone else { return }
        try blobMover.seal()
        finished.formUnion(blobMover.victims)
        hasPublished = true
        self.blobMover = nil
    }

    // MARK: Cold segments

    /// Returns the segment to copy to; creates it, or its successor, if necessary.
    private func openCold() throws(LogError) -> ColdSegment {
        if let cold, !cold.hasFailed, cold.end < sequencer.account.segmentByteCount { return cold }
        try manifest.makeRoom()
        try noteCompacted()
        let managed = try directory.createDurably(
            .coldSegment, headerSite: "compaction.header", directorySite: "compaction.directory")
        managed.noteListed()
        var edits = sealCold()
        edits.append(managed.addition(begun: chosenAt))
        try manifest.commit(edits)
        if let cold { directory.letRest(cold.managed) }
        publisher.update(files: { $0.adding(managed) })
        let fresh = ColdSegment(managed, begun: chosenAt, end: UInt64(FileHeader.byteCount), previousHead: 0)
        noteWritten(fresh.end)
        cold = fresh
        return fresh
    }

    /// The edit that seals the segment being copied to, if there is one.
    func sealCold() -> [ManifestEdit] {
        guard let cold else { return [] }
        cold.managed.releaseReserve()
        return [.fileSealed(cold.seal(newest: publisher.snapshot.sequence))]
    }

    private func noteWritten(_ byteCount: UInt64) {
        report.writtenByteCount += byteCount
        gain.noteWritten(byteCount)
    }

    /// Frees the reserved space; to be called when nothing follows.
    func releaseReserve() {
        cold?.managed.releaseReserve()
        blobMover?.releaseReserve()
    }

    /// Records in IDENTITY that hot segments are no longer the whole log, before a cold one is listed or one is
    /// dropped.
    func noteCompacted() throws(LogError) { try noteFeature(Feature.compaction) }

    /// Records in IDENTITY that the store uses a feature, before it does.
    func noteFeature(_ bit: UInt64) throws(LogError) {
        try noteFeature { $0.adding(incompatible: bit) }
    }

    /// Records in IDENTITY that the store has secondary indexes, before its catalog has any.
    func noteSecondaryIndexes() throws(LogError) {
        try noteFeature { $0.adding(readCompatible: Feature.secondaryIndexes) }
    }

    /// Records in IDENTITY that the store has text indexes and their blocks, before its catalog has any.
    func noteTextIndexes() throws(LogError) {
        try noteFeature { $0.adding(readCompatible: Feature.textIndexes | Feature.postingBlocks) }
    }

    /// Records in IDENTITY that a table of the store has the rows of several classes, before its catalog says so.
    func noteSubclasses() throws(LogError) { try noteFeature(Feature.subclasses) }

    /// Records in IDENTITY that the store has a history, before the history's first record.
    func noteHistory() throws(LogError) {
        try noteFeature { $0.adding(readCompatible: Feature.history) }
    }

    /// Records in IDENTITY that the store has listings of past states, before the first one.
    func notePastStates() throws(LogError) {
        try noteFeature { $0.adding(readCompatible: Feature.pastStates) }
    }

    private func noteFeature(_ adding: (Identity) -> Identity) throws(LogError) {
        let path = directory.path(of: FileName.identity)
        guard let identity = try IdentityFile.read(path, on: directory.disk) else {
            throw .damaged("The store's identity is missing.", path)
        }
        let wanted = adding(identity)
        if wanted == identity { return }
        try IdentityFile.write(wanted, in: directory.path, on: directory.disk)
    }

    /// The end of the cold segment that is being written.
    var openEnd: (number: UInt64, end: UInt64)? { cold.map { ($0.managed.number, $0.end) } }

    // MARK: Reporting

    /// Reports that segments were chosen.
    func noteBegun(predictedByteCount: UInt64) {
        begun = (report, directory.watch.now())
        directory.watch.note(.compactionBegan(predictedByteCount: predictedByteCount))
    }

    /// Reports that the chosen segments are done and settled.
    func noteEnded() {
        guard let (before, moment) = begun else { return }
        begun = nil
        directory.watch.note(
            .compactionEnded(
                segmentCount: report.segmentCount - before.segmentCount,
                movedByteCount: report.movedByteCount - before.movedByteCount,
                droppedByteCount: report.droppedByteCount - before.droppedByteCount,
                nanoseconds: directory.watch.nanoseconds(since: moment)))
    }

    /// The dropped segments that are still in use.
    func heldFiles() -> [SnapshotHolds.HeldFile] {
        held.removeAll { !directory.isInUse($0.number) }
        return held
    }

    func noteHeld(_ file: SnapshotHolds.HeldFile) { held.append(file) }

    /// Bytes of dropped segments that the disk still holds, because a snapshot may read them.
    func heldByteCount() -> UInt64 { heldFiles().reduce(0) { $0 + $1.byteCount } }

    /// The report since the last call.
    func takeReport() -> CompactionReport {
        var taken = report
        taken.heldByteCount = heldByteCount()
        report = CompactionReport()
        return taken
    }

    func note(_ error: LogError, of segment: UInt64? = nil) {
        if let segment { excluded.insert(segment) }
        directory.watch.noteRot(error)
        guard let path = error.path else { return }
        let place = CompactionReport.Damage(path: path, offset: error.offset ?? 0)
        if !report.damage.contains(place) { report.damage.append(place) }
        damage.note(place)
    }
}
