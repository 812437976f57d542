import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// An unfinished stage goes on only with the code that began it.
struct RevisionTests {
    private struct Stopped: Error {}
    private static let count = 40

    private let stores = Stores()

    init() throws {
        try stores.fillWithNotes(Self.count)
    }

    private static var options: MigrationOptions {
        var options = MigrationOptions(unhandledData: .drop)
        options.batchByteCount = 1
        options.workerCount = 1
        return options
    }

    /// The first stage: its marks are `release`, and it stops at an object.
    private static func first(_ release: String, _ revision: Int = 0, stopsAt: Int? = nil) -> MigrationStage {
        .streamed(
            fromVersion: Note1.self, toVersion: Note2.self, revision: revision,
            StreamedEntity(Note1.Note.self) { old, output in
                if old.number == stopsAt { throw Stopped() }
                _ = try output.upsert(Note2.Word(text: "\(release) \(old.number % 5)"))
                try output.insert(Note2.Note(number: old.number, text: old.text, by: release))
            })
    }

    private static func second(_ release: String, _ revision: Int = 0, stopsAt: Int? = nil) -> MigrationStage {
        .streamed(
            fromVersion: Note2.self, toVersion: Note3.self, revision: revision,
            StreamedEntity(Note2.Note.self) { old, output in
                if old.number == stopsAt { throw Stopped() }
                try output.insert(Note3.Note(number: old.number, text: old.text, by: old.by, then: release))
            })
    }

    private static func third(_ release: String, stopsAt: Int? = nil) -> MigrationStage {
        .streamed(
            fromVersion: Note3.self, toVersion: Note4.self,
            StreamedEntity(Note3.Note.self) { old, output in
                if old.number == stopsAt { throw Stopped() }
                try output.insert(
                    Note4.Note(number: old.number, text: old.text, by: old.by, then: old.then, last: release))
            })
    }

    private static func version(_ stageCount: Int) -> any VersionedSchema.Type {
        let all: [any VersionedSchema.Type] = [Note2.self, Note3.self, Note4.self]
        return all[stageCount - 1]
    }

    private func fails(_ stages: [MigrationStage], _ options: MigrationOptions = options) {
        NotePlan.$current.withValue(stages) {
            let version = Self.version(stages.count)
            let error = #expect(throws: MigrationError.self) {
                try stores.open(version, NotePlan.self, migration: options)
            }
            #expect(error?.code == .stageFailed)
        }
    }

    /// Migrates, and returns the report with how many notes each release has made, by both stages.
    private func migrated(
        _ stages: [MigrationStage], _ options: MigrationOptions = options, in stores: Stores? = nil
    ) throws -> (report: MigrationReport, by: [String: Int], words: [String]) {
        let stores = stores ?? self.stores
        return try NotePlan.$current.withValue(stages) {
            if stages.count == 1 {
                let result = try stores.use(Note2.self, NotePlan.self, migration: options) { container, context in
                    let by = Dictionary(try context.all(Note2.Note.self).map { ($0.by, 1) }, uniquingKeysWith: +)
                    let words = try context.all(Note2.Word.self).map(\.text).sorted()
                    return (container.migrationReport, by, words)
                }
                #expect(try stores.findings(Note2.self) == [])
                return result
            }
            let result = try stores.use(Note3.self, NotePlan.self, migration: options) { container, context in
                let notes = try context.all(Note3.Note.self)
                #expect(notes.allSatisfy { $0.text == "n\($0.number)" })
                let by = Dictionary(notes.map { ("\($0.by), \($0.then)", 1) }, uniquingKeysWith: +)
                return (container.migrationReport, by, try context.all(Note3.Word.self).map(\.text).sorted())
            }
            #expect(try stores.findings(Note3.self) == [])
            return result
        }
    }

    private static func words(_ release: String) -> [String] { (0..<5).map { "\(release) \($0)" } }

    @Test func `A12: a streamed stage of another revision begins again`() throws {
        fails([Self.first("old", stopsAt: 30)])
        let seen = Guarded<Set<Bool>>([])
        var options = Self.options
        options.progress = { progress in
            if let stage = progress.stage { _ = seen.withLock { $0.insert(stage.isRestarted) } }
        }
        let (report, by, words) = try migrated([Self.first("new", 1)], options)
        #expect(by == ["new": Self.count])
        #expect(words == Self.words("new"))
        #expect(report.stages.map(\.restarts) == [1])
        #expect(report.objectsRead == Self.count && report.objectsWritten == Self.count + 5)
        #expect(report.text.contains("begun again once"))
        #expect(try MigrationReport(json: report.json()) == report)
        #expect(seen.withLock { $0 } == [true])
    }

    @Test(arguments: [0, 3]) func `A12: under the same revision a streamed stage goes on`(revision: Int) throws {
        fails([Self.first("old", revision, stopsAt: 30)])
        let (report, by, _) = try migrated([Self.first("new", revision)])
        #expect(by == ["old": 30, "new": Self.count - 30])
        #expect(report.stages.map(\.restarts) == [0] && report.resumes == 1)
    }

    @Test(arguments: [false, true])
    func `A12: stages that have finished stay done if the one behind them begins again`(isCustom: Bool) throws {
        let runs = Guarded(0)
        let first =
            isCustom
            ? MigrationStage.custom(
                fromVersion: Note1.self, toVersion: Note2.self, revision: 7, willMigrate: nil,
                didMigrate: { context in
                    runs.withLock { $0 += 1 }
                    for note in try context.all(Note2.Note.self) { note.by = "old" }
                    try context.save()
                }) : Self.first("old", 7)
        fails([first, Self.second("old", stopsAt: 25)])
        let other =
            isCustom
            ? first : Self.first("other", 7)
        let (report, by, _) = try migrated([other, Self.second("new", 1)])
        #expect(by == ["old, new": Self.count])
        #expect(report.stages.map(\.restarts) == [0, 1] && report.resumes == 1)
        if isCustom { #expect(runs.withLock { $0 } == 1) }
    }

    @Test func `A12: another revision of a finished stage makes the whole migration begin again`() throws {
        fails([Self.first("old"), Self.second("old", stopsAt: 25)])
        let (report, by, words) = try migrated([Self.first("new", 1), Self.second("new")])
        #expect(by == ["new, new": Self.count])
        #expect(words == Self.words("new"))
        #expect(report.stages.map(\.restarts) == [1, 0] && report.resumes == 0)
    }

    /// All stages begin again, and the report says so of the first one.
    @Test func `A12: another revision of a later finished stage is reported for the first one`() throws {
        fails([Self.first("old"), Self.second("old"), Self.third("old", stopsAt: 25)])
        let restarted = Guarded<Set<Int>>([])
        var options = Self.options
        options.progress = { progress in
            guard let stage = progress.stage, stage.isRestarted else { return }
            _ = restarted.withLock { $0.insert(stage.place) }
        }
        let stages = [Self.first("new"), Self.second("new", 1), Self.third("new")]
        try NotePlan.$current.withValue(stages) {
            try stores.use(Note4.self, NotePlan.self, migration: options) { container, context in
                let notes = try context.all(Note4.Note.self)
                #expect(Set(notes.map { "\($0.by), \($0.then), \($0.last)" }) == ["new, new, new"])
                #expect(notes.count == Self.count)
                #expect(container.migrationReport.stages.map(\.restarts) == [1, 0, 0])
            }
        }
        #expect(restarted.withLock { $0 } == [1])
        #expect(try stores.findings(Note4.self) == [])
    }

    @Test func `A12: restarts makes the whole migration begin again`() throws {
        fails([Self.first("old"), Self.second("old", stopsAt: 25)])
        var options = Self.options
        options.restarts = true
        let (report, by, words) = try migrated([Self.first("new"), Self.second("new")], options)
        #expect(by == ["new, new": Self.count])
        #expect(words == Self.words("new"))
        #expect(report.stages.map(\.restarts) == [1, 0])
    }

    @Test func `A12: restarts has no effect if nothing is unfinished`() throws {
        var options = Self.options
        options.restarts = true
        let (report, by, _) = try migrated([Self.first("new", 2)], options)
        #expect(by == ["new": Self.count])
        #expect(report.stages.map(\.restarts) == [0])
    }

    /// A mapped stage without policies resumes after a kill.
    @Test(arguments: [0, 1]) func `A12: a mapped stage of another revision begins again`(revision: Int) throws {
        let killed = Guarded<SimulatedDisk?>(nil)
        let disk = try #require(stores.disk as? SimulatedDisk)
        func stage(_ release: String, _ revision: Int, killsAt: Int? = nil) -> MigrationStage {
            .mapped(
                fromVersion: Note1.self, toVersion: Note2.self, revision: revision,
                MappingModel(
                    EntityMapping(
                        from: "Note", to: "Note",
                        attributes: [
                            PropertyMapping("number", .source("number")), PropertyMapping("text", .source("text")),
                            PropertyMapping(
                                "by",
                                .computed { note, _ in
                                    if note["number"] as? Int == killsAt {
                                        killed.withLock { $0 = disk.afterProcessDeath() }
                                    }
                                    return release
                                }),
                        ])))
        }
        _ = try migrated([stage("old", 0, killsAt: 30)])
        let cut = Stores(try #require(killed.withLock { $0 }), stores.directory)
        let (report, by, _) = try migrated([stage("new", revision)], in: cut)
        #expect(report.stages.map(\.restarts) == [revision])
        if revision == 0 { #expect((by["old"] ?? 0) > 20) } else { #expect(by == ["new": Self.count]) }
    }

    /// The new release drops the work of the old one, and is killed before it begins again; then the old one comes back.
    @Test func `A12: dropped work is not resumed by the release that began it`() throws {
        fails([Self.first("old"), Self.second("old", stopsAt: 25)])
        let disk = try #require(stores.disk as? SimulatedDisk)
        let images = Guarded<[SimulatedDisk]>([])
        let isBegun = Guarded(false)
        disk.onOperation = { disk, _ in
            if !isBegun.withLock({ $0 }) { images.withLock { $0.append(disk.afterProcessDeath()) } }
        }
        var options = Self.options
        options.progress = { progress in if progress.pass == .instances { isBegun.withLock { $0 = true } } }
        _ = try migrated([Self.first("old"), Self.second("new", 1)], options)
        disk.onOperation = nil
        var takenBackCount = 0
        for image in images.withLock({ $0 }) {
            let log = try Log.open(
                stores.directory, on: image.afterProcessDeath(), clock: .system, options: Stores.options,
                deriver: RowIndexDeriver())
            let record = try StoredCatalog.read(log.snapshot())?.migration
            log.abandonForTests()
            if record?.restart?.tables == [] { takenBackCount += 1 }
            let cut = Stores(image.afterProcessDeath(), stores.directory)
            let (report, by, _) = try migrated([Self.first("old"), Self.second("old")], in: cut)
            #expect(by == ["old, old": Self.count])
            // The new release has dropped the work, and the old one drops it for its revision again.
            if record?.restart?.tables == [] { #expect(report.stages.map(\.restarts) == [0, 2]) }
        }
        #expect(takenBackCount > 0)
    }

    /// Records of older releases have no revisions.
    @Test func `A12: a record without revisions is one of revision 0`() throws {
        fails([Self.first("old", stopsAt: 30)])
        let log = try Log.open(
            stores.directory, on: stores.disk, clock: .system, options: Stores.options, deriver: RowIndexDeriver())
        let record = try StoredCatalog.read(log.snapshot())?.migration
        try log.close()
        #expect(record != nil && record?.revisions == nil)
        let (report, _, _) = try migrated([Self.first("new", 1)])
        #expect(report.stages.map(\.restarts) == [1])
    }

    /// The quarantine cannot be filled from within a streamed stage: the stage begins again, and those before stay done.
    @Test func `a streamed stage begins again for a quarantine, and the one before it stays done`() throws {
        fails([Self.first("old"), Self.second("old", stopsAt: 25)])
        var options = Self.options
        options.onFailure = .quarantine()
        let (report, by, _) = try migrated([Self.first("other"), Self.second("new", stopsAt: 25)], options)
        #expect(by == ["old, new": Self.count - 1])
        #expect(report.quarantinedCount == 1 && report.stages.map(\.restarts) == [0, 0])
    }
}
