import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Synchronization
import Testing

/// A stage that is resumed in vain again and again is not run again.
struct AttemptTests {
    private struct Stopped: Error {}
    private static let count = 40

    private let stores = Stores()

    init() throws {
        try stores.fillWithNotes(Self.count)
    }

    private static func options(batch: Int = 1) -> MigrationOptions {
        var options = MigrationOptions(unhandledData: .drop)
        options.batchByteCount = batch
        options.workerCount = 1
        return options
    }

    private static func streamed(
        _ revision: Int = 0, _ work: @escaping @Sendable (Int) throws -> Void
    ) -> MigrationStage {
        .streamed(
            fromVersion: Note1.self, toVersion: Note2.self, revision: revision,
            StreamedEntity(Note1.Note.self) { old, output in
                try work(old.number)
                try output.insert(Note2.Note(number: old.number, text: old.text, by: "s"))
            })
    }

    /// The stage from `Note1` that marks all objects, and one from `Note2` that fails or is killed.
    private static func second(
        _ kind: MigrationReport.Stage.Kind, _ work: @escaping @Sendable (Int) throws -> Void
    ) -> [MigrationStage] {
        let second: MigrationStage
        switch kind {
        case .mapped:
            second = .mapped(
                fromVersion: Note2.self, toVersion: Note3.self,
                MappingModel(
                    EntityMapping(
                        from: "Note", to: "Note",
                        attributes: ["number", "text", "by"].map { PropertyMapping($0, .source($0)) } + [
                            PropertyMapping(
                                "then",
                                .computed { note, _ in
                                    try work(note["number"] as? Int ?? 0)
                                    return "m"
                                })
                        ])))
        case .custom:
            second = .custom(
                fromVersion: Note2.self, toVersion: Note3.self, willMigrate: nil,
                didMigrate: { context in
                    for note in try context.all(Note3.Note.self).sorted(by: { $0.number < $1.number }) {
                        note.then = "c"
                        try work(note.number)
                        try context.save()
                    }
                })
        case .streamed, .lightweight:
            second = .streamed(
                fromVersion: Note2.self, toVersion: Note3.self,
                StreamedEntity(Note2.Note.self) { old, output in
                    try work(old.number)
                    try output.insert(Note3.Note(number: old.number, text: old.text, by: old.by, then: "s"))
                })
        }
        return [streamed { _ in }, second]
    }

    private static func record(on disk: Disk, _ directory: String) throws -> MigrationRecord? {
        let log = try Log.open(
            directory, on: disk, clock: .system, options: Stores.options, deriver: RowIndexDeriver())
        defer { log.abandonForTests() }
        return try StoredCatalog.read(log.snapshot())?.migration
    }

    private static func error(
        _ stages: [MigrationStage], _ options: MigrationOptions = options(), in stores: Stores,
        clock: Clock = .system
    ) -> MigrationError? {
        let version: any VersionedSchema.Type = stages.count == 1 ? Note2.self : Note3.self
        return NotePlan.$current.withValue(stages) {
            #expect(throws: MigrationError.self) {
                try stores.use(version, NotePlan.self, migration: options, clock: clock) { _, _ in }
            }
        }
    }

    private static func finishes(_ stages: [MigrationStage], _ options: MigrationOptions, in stores: Stores) throws {
        let version: any VersionedSchema.Type = stages.count == 1 ? Note2.self : Note3.self
        try NotePlan.$current.withValue(stages) {
            try stores.use(version, NotePlan.self, migration: options) { _, context in
                let notes =
                    try stages.count == 1
                    ? context.fetchCount(FetchDescriptor<Note2.Note>())
                    : context.fetchCount(FetchDescriptor<Note3.Note>())
                #expect(notes == Self.count)
            }
        }
        #expect(try stores.findings(version) == [])
    }

    // MARK: Failures

    @Test(arguments: [1, 1 << 20])
    func `a closure that fails at one object is run four times, and not again`(batch: Int) throws {
        let calls = Guarded(0)
        let stage = Self.streamed { number in
            calls.withLock { $0 += 1 }
            if number == 30 { throw Stopped() }
        }
        for _ in 0..<4 { #expect(Self.error([stage], Self.options(batch: batch), in: stores)?.code == .stageFailed) }
        let before = calls.withLock { $0 }
        for _ in 0..<2 {
            let error = Self.error([stage], Self.options(batch: batch), in: stores)
            #expect(error?.code == .noProgress)
            #expect(error?.stage == "1.0.0 → 2.0.0" && error?.entityName == "Note" && error?.object == 31)
            let text = error?.message ?? ""
            for part in ["1.0.0 → 2.0.0", "Note 31", "4 runs", "`revision`", "`restarts`", "--restart"] {
                #expect(text.contains(part), "\(part) in \(text)")
            }
        }
        #expect(calls.withLock { $0 } == before)
        // The work so far stays.
        let record = try Self.record(on: stores.disk, stores.directory)
        #expect(record?.entityDone == (batch == 1 ? 30 : 0))
        // The old state is in force.
        try stores.use(Note1.self, migration: Self.options()) { _, context in
            let notes = try context.fetchCount(FetchDescriptor<Note1.Note>())
            #expect(notes == Self.count)
        }
    }

    enum Remedy: CaseIterable { case revision, restarts, resumesAnyway }

    @Test(arguments: Remedy.allCases) func `each remedy lets the stage run again`(remedy: Remedy) throws {
        let fails = Guarded(true)
        func stage(_ revision: Int) -> MigrationStage {
            Self.streamed(revision) { number in if number == 30, fails.withLock({ $0 }) { throw Stopped() } }
        }
        for _ in 0..<4 { #expect(Self.error([stage(0)], in: stores)?.code == .stageFailed) }
        #expect(Self.error([stage(0)], in: stores)?.code == .noProgress)
        var options = Self.options()
        options.restarts = remedy == .restarts
        options.resumesAnyway = remedy == .resumesAnyway
        let revision = remedy == .revision ? 1 : 0
        // The remedy begins the count again, except for a resume on request.
        #expect(Self.error([stage(revision)], options, in: stores)?.code == .stageFailed)
        let attempts = try Self.record(on: stores.disk, stores.directory)?.attempts
        #expect(attempts?.failures == (remedy == .resumesAnyway ? 5 : 1))
        #expect(attempts?.resumes == (remedy == .resumesAnyway ? 4 : 0))
        fails.withLock { $0 = false }
        try Self.finishes([stage(revision)], options, in: stores)
    }

    @Test func `a resume on request that saves work begins the count of failures again`() throws {
        let failing = Self.streamed { number in if number == 30 { throw Stopped() } }
        for _ in 0..<4 { #expect(Self.error([failing], in: stores)?.code == .stageFailed) }
        #expect(Self.error([failing], in: stores)?.code == .noProgress)
        // The operator has removed the cause; the run is killed behind the object.
        var anyway = Self.options()
        anyway.resumesAnyway = true
        let killed = try Self.killed(
            { kill in [Self.streamed { number in if number == 35 { kill() } }] }, in: stores, anyway)
        let record = try Self.record(on: killed.disk, killed.directory)
        #expect(record?.entityDone == 35 && record?.attempts?.failures == 0 && record?.attempts?.resumes == 0)
        try Self.finishes([Self.streamed { _ in }], Self.options(), in: killed)
    }

    @Test func `more failures than the quarantine takes stop the stage, too`() throws {
        var options = Self.options()
        options.onFailure = .quarantine(limit: 1)
        let stage = Self.streamed { number in if number.isMultiple(of: 13) { throw Stopped() } }
        let errors = (0..<10).map { _ in Self.error([stage], options, in: stores) }
        #expect(errors.prefix(4).allSatisfy { $0?.code == .quarantineFull && $0?.object == 14 }, "\(errors)")
        #expect(errors.dropFirst(4).allSatisfy { $0?.code == .noProgress && $0?.object == 14 }, "\(errors)")
        options.onFailure = .quarantine(limit: 4)
        options.resumesAnyway = true
        try NotePlan.$current.withValue([stage]) {
            try stores.use(Note2.self, NotePlan.self, migration: options) { _, context in
                let notes = try context.fetchCount(FetchDescriptor<Note2.Note>())
                #expect(notes == Self.count - 4)
            }
        }
    }

    @Test func `failures at other objects are counted anew`() throws {
        for place in [10, 10, 10, 20, 20, 20, 20] {
            let stage = Self.streamed { number in if number == place { throw Stopped() } }
            #expect(Self.error([stage], in: stores)?.code == .stageFailed)
        }
        let error = Self.error([Self.streamed { _ in }], in: stores)
        #expect(error?.code == .noProgress && error?.object == 21)
    }

    @Test(arguments: [MigrationReport.Stage.Kind.custom, .mapped])
    func `a second stage that begins again after each failure is stopped`(kind: MigrationReport.Stage.Kind) throws {
        let fails = Guarded(true)
        let stages = Self.second(kind) { number in if number == 30, fails.withLock({ $0 }) { throw Stopped() } }
        for _ in 0..<4 { #expect(Self.error(stages, in: stores)?.code == .stageFailed) }
        fails.withLock { $0 = false }
        let error = Self.error(stages, in: stores)
        #expect(error?.code == .noProgress && error?.stage == "2.0.0 → 3.0.0")
        if kind == .mapped { #expect(error?.entityName == "Note" && error?.object == 31) }
        var options = Self.options()
        options.restarts = true
        try Self.finishes(stages, options, in: stores)
    }

    /// Fails when all objects are made, and saved.
    private final class EndingPolicy: EntityMigrationPolicy, ResumablePolicy {
        @TaskLocal static var fails = true

        override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            if Self.fails { throw Stopped() }
        }
    }

    @Test func `saved batches that a failure drops are no progress`() throws {
        let stages = [
            Self.streamed { _ in },
            .mapped(
                fromVersion: Note2.self, toVersion: Note3.self,
                MappingModel(EntityMapping(from: "Note", to: "Note", policy: EndingPolicy.self))),
        ]
        for _ in 0..<4 { #expect(Self.error(stages, in: stores)?.code == .stageFailed) }
        #expect(Self.error(stages, in: stores)?.code == .noProgress)
        var options = Self.options()
        options.resumesAnyway = true
        try EndingPolicy.$fails.withValue(false) { try Self.finishes(stages, options, in: stores) }
    }

    @Test(arguments: [true, false]) func `cancellations do not count`(byControl: Bool) throws {
        let stage = Self.streamed { number in
            guard number == 5 else { return }
            if byControl { throw MigrationError(.cancelled, "enough") }
            throw CancellationError()
        }
        var options = Self.options()
        if !byControl { options.onFailure = .quarantine(limit: 10) }
        for _ in 0..<6 {
            let error = Self.error([stage], options, in: stores)
            #expect(error?.code == (byControl ? .cancelled : .stageFailed))
        }
        try Self.finishes([Self.streamed { _ in }], Self.options(), in: stores)
    }

    // MARK: Kills

    /// The disk that a killed run leaves.
    private static func killed(
        _ stages: (_ kill: @escaping @Sendable () -> Void) -> [MigrationStage], in stores: Stores,
        _ options: MigrationOptions = options(), clock: Clock = .system
    ) throws -> Stores {
        let disk = try #require(stores.disk as? SimulatedDisk)
        let left = Guarded<SimulatedDisk?>(nil)
        let stages = stages { left.withLock { if $0 == nil { $0 = disk.afterProcessDeath() } } }
        let version: any VersionedSchema.Type = stages.count == 1 ? Note2.self : Note3.self
        try NotePlan.$current.withValue(stages) {
            try stores.use(version, NotePlan.self, migration: options, clock: clock) { _, _ in }
        }
        return Stores(try #require(left.withLock { $0 }), stores.directory)
    }

    @Test func `a kill without progress counts, and one with progress does not`() throws {
        func stages(_ place: Int, _ kill: @escaping @Sendable () -> Void) -> [MigrationStage] {
            [Self.streamed { number in if number == place { kill() } }]
        }
        var stores = stores
        // Each of these kills leaves one more object.
        for place in 1...6 { stores = try Self.killed({ stages(place, $0) }, in: stores) }
        for resume in 1...3 {
            stores = try Self.killed({ stages(6, $0) }, in: stores)
            let record = try Self.record(on: stores.disk, stores.directory)
            #expect(record?.attempts?.resumes == resume)
        }
        let error = Self.error(stages(6) {}, in: stores)
        #expect(error?.code == .noProgress && error?.entityName == "Note" && error?.object == 6)
        #expect(error?.message.contains("3 times without progress, the last object being Note 6") == true)
    }

    @Test func `a custom stage that is killed three times is stopped, with the last object that it has saved`() throws {
        var stores = stores
        let now = Guarded<UInt64>(1)
        let clock = Clock {
            1
        } monotonicNanoseconds: {
            now.withLock { $0 }
        }
        func stages(_ kill: @escaping @Sendable () -> Void) -> [MigrationStage] {
            Self.second(.custom) { number in
                now.withLock { $0 += 1_000_000_000 }
                if number == 33 { kill() }
            }
        }
        for resume in 0...3 {
            stores = try Self.killed(stages, in: stores, clock: clock)
            let attempts = try Self.record(on: stores.disk, stores.directory)?.attempts
            #expect(attempts?.resumes == resume)
        }
        let error = Self.error(stages {}, in: stores, clock: clock)
        #expect(error?.code == .noProgress && error?.stage == "2.0.0 → 3.0.0" && error?.entityName == "Note")
        // It is recorded every five seconds.
        #expect((29...33).contains(error?.object ?? 0), "\(String(describing: error))")
    }
}
