internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// The course of one migration: where it is, and what it has done so far.
///
/// Every pass tells it of each object. It belongs to the one thread that migrates.
final class MigrationCourse {
    var counts: MigrationCounts
    /// What had been counted before the stage under way began.
    private(set) var countsBefore = MigrationCounts()
    /// Passes of no stage: the switch, and what comes after it.
    private(set) var lastPasses: [PassCounts] = []

    private let log: Log
    private let options: MigrationOptions
    /// Place in `counts.stages` of the stage under way.
    private(set) var stage: Int?
    private var pass: MigrationPass?
    /// Places in the stage's counts of what is being worked on.
    private(set) var entityPlace: Int?
    private(set) var mappingPlace: Int?

    // What was attributed to a pass already.
    private var settledNanoseconds: UInt64
    private var settledByteCount: UInt64
    private var settledBlobBytesRead = 0
    /// What the contexts of the stage read.
    private var tallies: ReadTallies?

    /// - Parameters:
    ///   - log: The store.
    ///   - options: How the migration runs.
    ///   - resumed: The record of the migration, if it was begun and did not end.
    init(_ log: Log, _ options: MigrationOptions, resumed: MigrationRecord?) {
        self.log = log
        self.options = options
        counts = resumed?.report ?? MigrationCounts()
        if resumed != nil { counts.resumes += 1 }
        settledNanoseconds = options.clock.monotonicNanoseconds()
        settledByteCount = Self.byteCount(log)
    }

    private static func byteCount(_ log: Log) -> UInt64 {
        let figures = log.figures
        return figures.writtenByteCount &+ figures.writtenBlobByteCount
    }

    // MARK: Stages and passes

    /// Begins a stage, or goes on with it.
    ///
    /// - Parameters:
    ///   - step: The stage.
    ///   - place: Its position among the steps.
    ///   - isResumed: Whether it was begun, and did not end.
    func begin(_ step: MigrationSteps.Step, at place: Int, isResumed: Bool) {
        settle()
        pass = nil
        countsBefore = counts
        let found = counts.stages.firstIndex { $0.place == place }
        if found == nil {
            counts.stages.append(
                StageCounts(
                    place: place, from: "\(step.from.version)", to: "\(step.to.version)", kind: step.kind.rawValue))
        }
        let stage = found ?? counts.stages.count - 1
        if isResumed { counts.stages[stage].resumes += 1 }
        self.stage = stage
        entityPlace = nil
        mappingPlace = nil
    }

    /// Goes back to what had been counted when the stage under way began, because its work was taken back.
    ///
    /// - Parameter before: The counts then; nil where a release has not kept them: then they stay as they are.
    func takeBack(to before: MigrationCounts?) {
        guard let before, let stage else { return }
        let begun = counts.stages[stage]
        let resumes = counts.resumes
        counts = before
        counts.resumes = resumes
        countsBefore = counts
        var again = StageCounts(place: begun.place, from: begun.from, to: begun.to, kind: begun.kind)
        again.resumes = begun.resumes
        counts.stages.append(again)
        self.stage = counts.stages.count - 1
    }

    /// Ends the last stage: what follows belongs to the migration as a whole.
    func endStages() {
        settle()
        stage = nil
        pass = nil
    }

    /// Begins a pass, or the next entity of the one under way.
    ///
    /// - Parameters:
    ///   - pass: The pass.
    ///   - entity: The entity whose objects are worked on, if it is one.
    ///   - mapping: The mapping that is carried out, if it is one.
    func begin(_ pass: MigrationPass, of entity: String? = nil, mapping: String? = nil) {
        settle()
        self.pass = pass
        entityPlace = entity.flatMap(entityPlace(of:))
        mappingPlace = mapping.flatMap(mappingPlace(of:))
    }

    /// Brings time, bytes and reads up to now: before the counts are written or reported.
    func settle() {
        let nanoseconds = options.clock.monotonicNanoseconds()
        let byteCount = Self.byteCount(log)
        let elapsed = nanoseconds > settledNanoseconds ? nanoseconds - settledNanoseconds : 0
        let written = byteCount > settledByteCount ? byteCount - settledByteCount : 0
        settledNanoseconds = nanoseconds
        settledByteCount = byteCount
        if let tallies {
            let blobBytesRead = tallies.sum.blobBytesRead
            counts.blobBytesRead += blobBytesRead - settledBlobBytesRead
            settledBlobBytesRead = blobBytesRead
        }
        guard let pass else { return }
        if let stage {
            counts.stages[stage].passes.add(pass, elapsed, written)
        } else {
            lastPasses.add(pass, elapsed, written)
        }
    }

    /// The counts, brought up to now.
    var settledCounts: MigrationCounts {
        settle()
        return counts
    }

    /// Counts what the contexts of a stage read from now on.
    func watch(_ tallies: ReadTallies) {
        settle()
        self.tallies = tallies
        settledBlobBytesRead = tallies.sum.blobBytesRead
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
