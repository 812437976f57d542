import Dispatch
import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Synchronization
import Testing

/// The work of code that takes long for each object survives a kill.
struct SlowClosureTests {
    /// The kinds of stages that are resumed within their code.
    enum Kind: CaseIterable {
        case streamed, mapped
    }

    /// A process: its clock, and the disk that it leaves when it is killed.
    private final class Life: Sendable {
        struct Killed: Error {}

        private static let objectNanoseconds: UInt64 = 20_000_000
        private let now = Guarded<UInt64>(1_000)
        private let disk: SimulatedDisk
        private let end: UInt64
        private let left = Guarded<SimulatedDisk?>(nil)

        /// - Parameters:
        ///   - disk: The disk of the store.
        ///   - objects: Objects until the kill.
        init(_ disk: SimulatedDisk, objects: Int) {
            self.disk = disk
            end = 1_000 + UInt64(objects) * Self.objectNanoseconds
        }

        var clock: Clock {
            Clock {
                1
            } monotonicNanoseconds: {
                self.now.withLock { $0 }
            }
        }

        /// Takes 20 ms.
        func work() throws {
            let now = now.withLock {
                $0 += Self.objectNanoseconds
                return $0
            }
            guard now > end else { return }
            left.withLock { if $0 == nil { $0 = disk.afterProcessDeath() } }
            throw Killed()
        }

        /// The disk after the kill; nil if the process was not killed.
        var killed: SimulatedDisk? { left.withLock { $0 } }
    }

    private static func stage(_ kind: Kind, _ work: @escaping @Sendable () throws -> Void) -> MigrationStage {
        switch kind {
        case .streamed:
            .streamed(
                fromVersion: Note1.self, toVersion: Note2.self,
                StreamedEntity(Note1.Note.self) { old, output in
                    try work()
                    try output.insert(Note2.Note(number: old.number, text: old.text, by: "s"))
                })
        case .mapped:
            .mapped(
                fromVersion: Note1.self, toVersion: Note2.self,
                MappingModel(
                    EntityMapping(
                        from: "Note", to: "Note",
                        attributes: [
                            PropertyMapping("number", .source("number")), PropertyMapping("text", .source("text")),
                            PropertyMapping(
                                "by",
                                .computed { _, _ in
                                    try work()
                                    return "s"
                                }),
                        ])))
        }
    }

    private static func stores(_ count: Int) throws -> Stores {
        let stores = Stores()
        try stores.fillWithNotes(count)
        return stores
    }

    /// Batches of the default size, which these objects do not fill, by one worker.
    private static var options: MigrationOptions {
        var options = MigrationOptions()
        options.workerCount = 1
        return options
    }

    /// Runs a life; returns its report if it was not killed.
    private static func run(_ life: Life, _ kind: Kind, in stores: Stores) throws -> MigrationReport? {
        let stage = stage(kind) { try life.work() }
        return try NotePlan.$current.withValue([stage]) {
            do {
                return try stores.use(Note2.self, NotePlan.self, migration: options, clock: life.clock) {
                    container, _ in container.migrationReport
                }
            } catch {
                guard life.killed != nil else { throw error }
                return nil
            }
        }
    }

    @Test(arguments: Kind.allCases) func `a batch is saved after five seconds, full or not`(kind: Kind) throws {
        let stores = try Self.stores(600)
        let life = Life(try #require(stores.disk as? SimulatedDisk), objects: 510)
        #expect(try Self.run(life, kind, in: stores) == nil)
        let log = try Log.open(
            stores.directory, on: try #require(life.killed), clock: .system, options: Stores.options,
            deriver: RowIndexDeriver())
        defer { log.abandonForTests() }
        let record = try #require(try StoredCatalog.read(log.snapshot())?.migration)
        #expect((kind == .mapped ? record.mapped?.done : record.entityDone) == 500)
    }

    @Test(arguments: Kind.allCases) func `a stage that is killed every twenty seconds finishes`(kind: Kind) throws {
        let count = 5_000
        var stores = try Self.stores(count)
        for lifeCount in 1..<20 {
            let life = Life(try #require(stores.disk as? SimulatedDisk), objects: 1_000)
            if let report = try Self.run(life, kind, in: stores) {
                // Each life does 1,000 objects, and saves the first 750 to 1,000.
                #expect((5...7).contains(lifeCount))
                #expect(report.resumes == lifeCount - 1 && report.objectsWritten == count)
                try stores.use(Note2.self) { _, context in
                    let notes = try context.all(Note2.Note.self).sorted { $0.number < $1.number }
                    #expect(notes.map(\.number) == Array(0..<count))
                    #expect(notes.allSatisfy { $0.text == "n\($0.number)" && $0.by == "s" })
                }
                #expect(try stores.findings(Note2.self) == [])
                return
            }
            stores = Stores(try #require(life.killed), stores.directory)
        }
        Issue.record("The stage makes no progress.")
    }

    /// The first worker waits for the second object of the third one, whose batches are always due.
    @Test func `a worker does not wait for its turn to save a batch that is not full`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let now = Guarded<UInt64>(1)
        let clock = Clock {
            1
        } monotonicNanoseconds: {
            now.withLock {
                $0 += 10_000_000_000
                return $0
            }
        }
        let isReached = DispatchSemaphore(value: 0)
        let hasWaited = Guarded(false)
        let notes = CrewNotes { number in
            if number == 2 * CrewPlan.shareCount + 1 { isReached.signal() }
            if number == 1 {
                let isInTime = isReached.wait(timeout: .now() + 30) == .success
                hasWaited.withLock { $0 = isInTime }
            }
        }
        try CrewNotes.$current.withValue(notes) {
            try stores.use(Work2.self, CrewPlan.self, migration: CrewPlan.options(3), clock: clock) { _, _ in }
        }
        #expect(hasWaited.withLock { $0 })
    }
}
