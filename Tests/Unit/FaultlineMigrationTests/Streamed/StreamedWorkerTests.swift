import Dispatch
import Faultline
import FaultlineDisk
import FaultlineMigration
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// Streamed stages on several threads have the same result as on one thread.
struct StreamedWorkerTests {
    private struct Outcome {
        var rows: [String: [UInt8]]
        var report: [String]
    }

    private struct Stopped: Error {}

    private static func report(_ container: ModelContainer) -> [String] {
        let report = container.migrationReport
        return report.stages.flatMap { stage in stage.entities.map { "\($0)" } } + [
            "\(report.objectsRead) read, \(report.objectsWritten) written, \(report.objectsFound) found",
            "\(report.objectsDropped) dropped, \(report.blobsMoved) moved, \(report.blobsLeftBehind) left",
        ]
    }

    /// Rows that differ between two stores, by table and number.
    private static func differences(_ one: [String: [UInt8]], _ other: [String: [UInt8]]) -> [String] {
        Set(one.keys).union(other.keys).filter { $0 != "schema" && one[$0] != other[$0] }.sorted().map {
            "\($0): \(one[$0] ?? []) and \(other[$0] ?? [])"
        }
    }

    private static func outcome(_ options: MigrationOptions) throws -> Outcome {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let report = try stores.use(Work2.self, CrewPlan.self, migration: options) { container, _ in
            Self.report(container)
        }
        #expect(try stores.findings(Work2.self) == [])
        return Outcome(rows: try stores.rows(), report: report)
    }

    @Test(arguments: [nil, 1, 3_000])
    func severalWorkersComeToTheSameRowsAsOne(batchByteCount: Int?) throws {
        let expected = try Self.outcome(CrewPlan.options(1, batch: batchByteCount))
        #expect(expected.rows.count > 250)
        for workerCount in [2, 4] {
            for _ in 0..<TestSize.of(5, unoptimized: 2) {
                let found = try Self.outcome(CrewPlan.options(workerCount, batch: batchByteCount))
                #expect(Self.differences(found.rows, expected.rows) == [], "\(workerCount) workers")
                #expect(found.report == expected.report)
            }
        }
    }

    /// An object of the first share waits for one of a later share.
    @Test func sharesAreConvertedAtTheSameTime() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let isReached = DispatchSemaphore(value: 0)
        let hasWaited = Guarded(false)
        let notes = CrewNotes { number in
            if number == CrewPlan.shareCount { isReached.signal() }
            if number == 1 {
                let isInTime = isReached.wait(timeout: .now() + 30) == .success
                hasWaited.withLock { $0 = isInTime }
            }
        }
        try CrewNotes.$current.withValue(notes) {
            try stores.use(Work2.self, CrewPlan.self, migration: CrewPlan.options(2)) { _, _ in }
        }
        #expect(hasWaited.withLock { $0 })
    }

    @Test func theFirstObjectThatFailsIsNamedWhoeverIsFaster() throws {
        let expected = try Self.outcome(CrewPlan.options(1))
        for workerCount in [1, 2, 4] {
            let stores = Stores()
            try WorkStore.make(in: stores)
            let hasFailed = DispatchSemaphore(value: 0)
            let notes = CrewNotes { number in
                // In the share after that of object 100.
                if number == 104 {
                    hasFailed.signal()
                    throw Stopped()
                }
                if number == 100 {
                    if workerCount > 1 { #expect(hasFailed.wait(timeout: .now() + 30) == .success) }
                    throw Stopped()
                }
            }
            let error = CrewNotes.$current.withValue(notes) {
                #expect(throws: MigrationError.self) {
                    try stores.open(Work2.self, CrewPlan.self, migration: CrewPlan.options(workerCount))
                }
            }
            #expect(error?.code == .stageFailed)
            #expect(error?.cause is Stopped)
            #expect(error?.description.contains("Employee 101.") == true, "\(error.map { "\($0)" } ?? "")")

            // It continues after the last share that was saved.
            let seen = Guarded<Set<Int>>([])
            try CrewNotes.$current.withValue(CrewNotes { number in seen.withLock { _ = $0.insert(number) } }) {
                try stores.use(Work2.self, CrewPlan.self, migration: CrewPlan.options(workerCount)) { container, _ in
                    #expect(container.migrationReport.resumes == 1)
                    #expect(Self.report(container) == expected.report)
                }
            }
            #expect(seen.withLock { $0 } == Set(96..<WorkStore.count))
            let differences = try Self.differences(stores.rows(), expected.rows)
            #expect(differences == [])
        }
    }

    /// The disk fails in a share after one that was converted completely.
    @Test(arguments: [1, 2, 4])
    func aDiskThatFailsIsNamedAndNotTheValueThatStoodIn(workerCount: Int) throws {
        let disk = FailingDisk(over: SimulatedDisk(directories: ["/s"]))
        let stores = Stores(disk, "/s/store")
        try WorkStore.make(in: stores)
        let isFirstDone = DispatchSemaphore(value: 0)
        let notes = CrewNotes { number in
            if number == CrewPlan.shareCount - 1 { isFirstDone.signal() }
            if number == CrewPlan.shareCount {
                #expect(isFirstDone.wait(timeout: .now() + 30) == .success)
                disk.arm(DiskFault(of: [.read], ordinal: 0, isSticky: true))
            }
        }
        let error = CrewNotes.$current.withValue(notes) {
            #expect(throws: MigrationError.self) {
                try stores.open(Work2.self, PhotographedCrewPlan.self, migration: CrewPlan.options(workerCount))
            }
        }
        disk.disarm()
        let cause = try #require(error?.cause as? StorageError, "\(error?.description ?? "")")
        #expect(cause.path?.hasPrefix("/s/store/") == true, "\(cause)")
        #expect(error?.code == .stageFailed && error?.entityName == "Employee")
        try stores.use(Work2.self, PhotographedCrewPlan.self, migration: CrewPlan.options(workerCount)) { _, context in
            try #expect(context.all(Work2.Photo.self).count == 40)
        }
        #expect(try stores.findings(Work2.self) == [])
    }

    @Test(arguments: [1, 2, 4])
    func aCancelledStageGoesOn(workerCount: Int) throws {
        let expected = try Self.outcome(CrewPlan.options(1))
        let stores = Stores()
        try WorkStore.make(in: stores)
        var options = CrewPlan.options(workerCount)
        let control = MigrationControl()
        options.control = control
        let error = CrewNotes.$current.withValue(CrewNotes { number in if number == 90 { control.cancel() } }) {
            #expect(throws: MigrationError.self) { try stores.open(Work2.self, CrewPlan.self, migration: options) }
        }
        #expect(error?.code == .cancelled)
        try stores.use(Work2.self, CrewPlan.self, migration: CrewPlan.options(workerCount)) { container, _ in
            #expect(container.migrationReport.resumes == 1)
            #expect(container.migrationReport.objectsRead == WorkStore.count)
        }
        let differences = try Self.differences(stores.rows(), expected.rows)
        #expect(differences == [])
    }

    @Test func progressGrowsByOneAfterTheOther() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let done = Guarded<[Int]>([])
        var options = CrewPlan.options(4)
        options.progress = { progress in
            guard progress.pass == .instances else { return }
            done.withLock { $0.append(progress.done) }
        }
        try stores.use(Work2.self, CrewPlan.self, migration: options) { _, _ in }
        done.withLock { done in
            #expect(done == done.sorted())
            #expect(done.last == WorkStore.count)
        }
    }

    @Test func whatHasToBeInOrderStaysOnTheThreadThatMigrates() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let seen = Guarded<[Int]>([])
        let thread = pthread_self()
        let notes = CrewNotes { number in
            #expect(pthread_equal(thread, pthread_self()) != 0)
            seen.withLock { $0.append(number) }
        }
        try CrewNotes.$current.withValue(notes) {
            try stores.use(Work2.self, OrderedCrewPlan.self, migration: CrewPlan.options(4)) { _, _ in }
        }
        #expect(seen.withLock { $0 } == Array(0..<WorkStore.count))
    }

    @Test func aConfigurationSaysHowManyThreads() throws {
        let stores = Stores(isOnDisk: true)
        try stores.use(Queue1.self) { _, context in
            for number in 0..<3_000 { context.insert(Queue1.Job(name: "job \(number)")) }
            try context.save()
        }
        let threads = Guarded<Set<UInt>>([])
        let during = Hook<Void> {
            usleep(20)
            threads.withLock { _ = $0.insert(UInt(pthread_self())) }
        }
        var configuration = ModelConfiguration(url: URL(filePath: stores.directory))
        configuration.options.migration.workerCount = 1
        try QueuePlan.$during.withValue(during) {
            try ModelContainer(
                for: Schema(versionedSchema: Queue2.self), migrationPlan: QueuePlan.self, configurations: configuration
            ).close()
        }
        #expect(threads.withLock { $0 } == [UInt(pthread_self())])
    }

    @Test func aWorkerThatOpensTheStoreIsRefused() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let thread = pthread_self()
        let refusals = Guarded<[MigrationError.Code]>([])
        let notes = CrewNotes { _ in
            let isFirst = refusals.withLock { $0.isEmpty }
            guard isFirst, pthread_equal(thread, pthread_self()) == 0 else {
                usleep(100)
                return
            }
            do { _ = try stores.open(Work2.self, CrewPlan.self) } catch let error as MigrationError {
                refusals.withLock { $0.append(error.code) }
            }
        }
        try CrewNotes.$current.withValue(notes) {
            try stores.use(Work2.self, CrewPlan.self, migration: CrewPlan.options(2)) { _, _ in }
        }
        #expect(refusals.withLock { $0 } == [.stageFailed])
    }
}

/// Refuses employees without a photo, which the new version requires.
private enum PhotographedCrewPlan: SchemaMigrationPlan {
    private struct Unphotographed: Error {}

    static var schemas: [any VersionedSchema.Type] { CrewPlan.schemas }
    static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: Work1.self, toVersion: Work2.self,
                StreamedEntity(Work1.Employee.self) { old, output in
                    try CrewNotes.current.during(old.number)
                    let new = Work2.Employee(number: old.number, firstName: old.name, lastName: "")
                    if old.number % 5 == 0 {
                        guard let bytes = old.photo, !bytes.isEmpty else { throw Unphotographed() }
                        let photo = Work2.Photo()
                        photo.bytes = bytes
                        new.photo = photo
                    }
                    try output.insert(new)
                })
        ]
    }
}
