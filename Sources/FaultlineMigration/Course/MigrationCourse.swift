internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// The state of one migration run: its position, and its counts.
///
/// Every pass reports each object to it. It belongs to the one thread that migrates.
final class MigrationCourse {
    var counts: MigrationCounts
    /// The counts before the current stage.
    private(set) var countsBefore = MigrationCounts()
    /// The stage that was reported to observers; nil if there is none, or no observer.
    var stageBeginning: StageBeginning?
    /// Passes outside of stages: the switch, and later ones.
    private(set) var lastPasses: [PassCounts] = []

    let log: Log
    let options: MigrationOptions
    /// How many stages there are.
    let stageCount: Int
    /// The findings of a dry run; nil for a real migration.
    let findings: PreviewFindings?
    /// Takes the objects that fail.
    let quarantine: QuarantineKeeper
    /// The current stage's index in `counts.stages`.
    private(set) var stage: Int?
    private var pass: MigrationPass?
    private(set) var entity = ""
    private var mapping: String?
    private var meter: ProgressMeter
    private var throttle: Throttle?
    /// Bytes that the log had written before.
    private let beginByteCount: UInt64
    private var ending: Ending?
    /// The stage whose work was dropped for its revision or on request; nil if there is none.
    var restartedStage: Int?
    /// Indexes of the current entity and mapping in the stage's counts; nil before anything was counted for it.
    var entityPlace: Int?
    private(set) var mappingPlace: Int?

    // The cost of the pass over the entity so far, and the ratio of all objects to the sampled ones, by mapping or
    // entity.
    private var entityNanoseconds: UInt64 = 0
    private var entityByteCount: UInt64 = 0
    private var sampleFactors: [String: Double] = [:]

    /// The costs that were attributed to a pass already.
    private var settled: SettledCosts
    /// The reads of the stage's contexts.
    private var tallies: ReadTallies?

    /// How a run ends.
    private enum Ending {
        case switched, cancelledByCode
    }

    /// Whether a policy has cancelled the migration by an error of its own.
    var isCancelledByCode: Bool { ending == .cancelledByCode }

    /// Records that a policy has cancelled the migration.
    func noteCancellation() { ending = .cancelledByCode }

    /// - Parameters:
    ///   - log: The store.
    ///   - options: How the migration runs.
    ///   - stageCount: How many stages there are.
    ///   - resumed: The record of the migration, if it was begun and did not end.
    ///   - findings: Collects the findings of a dry run; nil for a real migration.
    /// - Throws: The store's error if the quarantine cannot be read.
    init(
        _ log: Log, _ options: MigrationOptions, stageCount: Int, resumed: MigrationRecord?,
        findings: PreviewFindings? = nil
    ) throws {
        quarantine = try QuarantineKeeper(log, findings == nil ? options.onFailure : .stop, resumed: resumed)
        self.log = log
        self.options = options
        self.stageCount = stageCount
        self.findings = findings
        counts = resumed?.report ?? MigrationCounts()
        if resumed != nil { counts.resumes += 1 }
        let (now, byteCount) = (options.clock.monotonicNanoseconds(), log.writtenByteCount)
        beginByteCount = byteCount
        settled = SettledCosts(nanoseconds: now, byteCount: byteCount)
        meter = ProgressMeter(done: 0, total: 0, now: now)
        throttle = options.bytesPerSecond.flatMap {
            $0 > 0 ? Throttle(bytesPerSecond: $0, byteCount: byteCount, now: now) : nil
        }
    }

    // MARK: Stages and passes

    /// Begins a stage, or continues it.
    ///
    /// - Parameters:
    ///   - step: The stage.
    ///   - place: Its position among the steps.
    ///   - isResumed: Whether it was begun, and did not end.
    func begin(_ step: MigrationSteps.Step, at place: Int, isResumed: Bool) {
        end()
        tellEnd()
        countsBefore = counts
        let found = counts.stages.firstIndex { $0.place == place }
        if found == nil {
            counts.stages.append(
                StageCounts(
                    place: place, from: "\(step.from.version)", to: "\(step.to.version)", kind: step.kind.rawValue))
        }
        let stage = found ?? counts.stages.count - 1
        if isResumed { counts.stages[stage].resumes += 1 }
        if place == restartedStage { counts.stages[stage].restarts = (counts.stages[stage].restarts ?? 0) + 1 }
        self.stage = stage
        entityPlace = nil
        mappingPlace = nil
        tellBeginning(of: stage, isResumed: isResumed)
    }

    /// Resets the counts to those before the current stage, because its work was undone.
    ///
    /// - Parameter before: The counts then; nil if an older release has not stored them: then the counts stay.
    func takeBack(to before: MigrationCounts?) {
        guard let before, let stage else { return }
        let begun = counts.stages[stage]
        let resumes = counts.resumes
        counts = before
        counts.resumes = resumes
        countsBefore = counts
        var again = StageCounts(place: begun.place, from: begun.from, to: begun.to, kind: begun.kind)
        again.resumes = begun.resumes
        again.restarts = begun.restarts
        counts.stages.append(again)
        self.stage = counts.stages.count - 1
    }

    /// Whether a failed object is recorded or quarantined, and the others are converted.
    var goesOnBehindFailures: Bool { findings != nil || quarantine.isOn }

    /// The target version of the current stage.
    var stageName: String { stage.map { counts.stages[$0].to } ?? "" }

    /// Resets the object counts, because a batch was dropped; time and bytes stay.
    func forget(since before: MigrationCounts) {
        guard let stage, before.stages.indices.contains(stage) else { return }
        let passes = counts.stages[stage].passes
        let blobBytesRead = counts.blobBytesRead
        counts = before
        counts.stages[stage].passes = passes
        counts.blobBytesRead = blobBytesRead
        entityPlace = nil
        mappingPlace = mapping.flatMap(mappingPlace(of:))
    }

    /// Ends the last stage: later passes belong to the migration as a whole.
    func endStages() {
        end()
        tellEnd()
        stage = nil
    }

    /// Ends the current pass.
    func end() {
        settle()
        extrapolate()
        entityNanoseconds = 0
        entityByteCount = 0
        if pass != nil, meter.hasNews { tell(options.clock.monotonicNanoseconds()) }
        pass = nil
    }

    /// Begins a pass, or the next entity of the current one.
    ///
    /// - Parameters:
    ///   - pass: The pass.
    ///   - entity: The entity whose objects are processed, if there is one.
    ///   - mapping: The mapping that is processed, if there is one.
    ///   - done: Objects that were done before.
    ///   - total: Objects in all, if that is known.
    /// - Throws: `MigrationError` of code `cancelled`.
    func begin(
        _ pass: MigrationPass, of entity: String? = nil, mapping: String? = nil, done: Int = 0, total: Int = 0
    ) throws {
        end()
        self.pass = pass
        self.entity = entity ?? ""
        self.mapping = mapping
        // Earlier costs do not belong to the entity.
        settle()
        entityNanoseconds = 0
        entityByteCount = 0
        if pass == .reclaiming { ending = .switched }
        entityPlace = nil
        mappingPlace = mapping.flatMap(mappingPlace(of:))
        meter = ProgressMeter(done: done, total: total, now: options.clock.monotonicNanoseconds())
        tell(options.clock.monotonicNanoseconds())
        try breathe()
    }

    /// Counts finished objects; call it only while holding no lock.
    ///
    /// Reports progress, and waits if a pause or the rate limit requires it.
    ///
    /// - Throws: `MigrationError` of code `cancelled`.
    func advance(by count: Int = 1) throws { try reach(meter.done + count) }

    /// The same, with the total number of finished objects.
    func reach(_ done: Int) throws {
        meter.reach(done)
        if options.isWatched {
            let now = options.clock.monotonicNanoseconds()
            if meter.isDue(now) { tell(now) }
        }
        try breathe()
    }

    /// Objects done in the current pass over the entity.
    var done: Int { meter.done }

    /// Whether progress should be reported now, so that a long transaction should end.
    var isDue: Bool { options.isWatched && meter.isDue(options.clock.monotonicNanoseconds()) }

    private func breathe() throws {
        try options.control?.obey(isCancellable: ending != .switched)
        guard throttle != nil else { return }
        while let wait = throttle?.wait(log.writtenByteCount, now: options.clock.monotonicNanoseconds()), wait > 0 {
            options.sleep(min(wait, meter.untilDue(options.clock.monotonicNanoseconds())))
            let now = options.clock.monotonicNanoseconds()
            if meter.isDue(now) { tell(now) }
            try options.control?.obey(isCancellable: ending != .switched)
        }
    }

    private func tell(_ now: UInt64) {
        meter.noteTold(now)
        guard options.isWatched, let pass else { return }
        options.tell(
            MigrationProgress(
                pass: pass,
                stage: stage.map { place in
                    let stage = counts.stages[place]
                    return MigrationProgress.Stage(
                        from: stage.from, to: stage.to, place: stage.place + 1, count: stageCount,
                        isRestarted: stage.place == restartedStage)
                },
                entity: entity, mapping: mapping, done: meter.done, total: meter.total,
                bytesWritten: Int(clamping: log.writtenByteCount &- beginByteCount),
                engineBytes: log.budget.used, objectsPerSecond: meter.rate(now), timeLeft: meter.timeLeft(now)))
    }

    /// Updates time, bytes and reads: called before the counts are written or reported.
    ///
    /// Costs before the first pass count for that pass.
    func settle() {
        if let tallies {
            let blobBytesRead = tallies.sum.blobBytesRead
            counts.blobBytesRead += blobBytesRead - settled.blobBytesRead
            settled.blobBytesRead = blobBytesRead
            let saved = tallies.savedBlobs
            counts.blobBytesWritten += saved.byteCountWritten - settled.saved.byteCountWritten
            counts.blobBytesMoved += saved.byteCountMoved - settled.saved.byteCountMoved
            countMoved(blobs: saved.passedCount - settled.saved.passedCount)
            settled.saved = saved
        }
        guard let pass else { return }
        let nanoseconds = options.clock.monotonicNanoseconds()
        let byteCount = log.writtenByteCount
        let elapsed = nanoseconds > settled.nanoseconds ? nanoseconds - settled.nanoseconds : 0
        let written = byteCount > settled.byteCount ? byteCount - settled.byteCount : 0
        settled.nanoseconds = nanoseconds
        settled.byteCount = byteCount
        entityNanoseconds += elapsed
        entityByteCount += written
        add(pass, elapsed, written)
    }

    private func add(_ pass: MigrationPass, _ nanoseconds: UInt64, _ byteCount: UInt64) {
        if let stage {
            counts.stages[stage].passes.add(pass, nanoseconds, byteCount)
        } else {
            lastPasses.add(pass, nanoseconds, byteCount)
        }
    }

    /// Whether more objects of the entity will be sampled.
    var wantsMore: Bool { findings?.sample.map { meter.done < $0 } ?? true }

    /// Adds the estimated cost of the pass over the rest of an entity of which only a sample was tried out.
    private func extrapolate() {
        guard findings?.sample != nil, let pass, pass == .instances || pass == .relationships else { return }
        let name = mapping ?? entity
        if pass == .instances, meter.done > 0 {
            sampleFactors[name] = Double(max(meter.total, meter.done)) / Double(meter.done)
        }
        let rest = (sampleFactors[name] ?? 1) - 1
        add(pass, Self.estimate(entityNanoseconds, rest), Self.estimate(entityByteCount, rest))
    }

    /// Bounded by the largest number that the catalog accepts.
    private static func estimate(_ measured: UInt64, _ factor: Double) -> UInt64 {
        UInt64(min(max(Double(measured) * factor, 0), 0x1p50))
    }

    /// The updated counts.
    var settledCounts: MigrationCounts {
        settle()
        return counts
    }

    /// Counts the reads of a stage's contexts from now on.
    func watch(_ tallies: ReadTallies) {
        settle()
        self.tallies = tallies
        settled.blobBytesRead = tallies.sum.blobBytesRead
        settled.saved = tallies.savedBlobs
    }
}

extension MigrationCourse {
    /// Time, bytes written and bytes of large values read, up to a moment.
    private struct SettledCosts {
        var nanoseconds: UInt64
        var byteCount: UInt64
        var blobBytesRead = 0
        /// The large values that were written and moved.
        var saved = SavedBlobs()
    }
}

extension [PassCounts] {
    fileprivate mutating func add(_ pass: MigrationPass, _ nanoseconds: UInt64, _ byteCount: UInt64) {
        var place = firstIndex { $0.name == pass.rawValue }
        if place == nil {
            append(PassCounts(name: pass.rawValue))
            place = count - 1
        }
        guard let place else { return }
        self[place].nanoseconds += nanoseconds
        self[place].byteCount += byteCount
    }
}
