import Faultline
import FaultlineDisk
import FaultlineMigration
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// Two processes, one of which has opened a store that the other wants to migrate.
struct LockedMigrationTests {
    private let stores = Stores(isOnDisk: true)
    private static let count = 40

    init() throws {
        try stores.use(Queue1.self) { _, context in
            for number in 0..<Self.count { context.insert(Queue1.Job(name: "job \(number)")) }
            try context.save()
        }
    }

    /// The code of the error that opening the store is refused with.
    private static func refusal(
        _ stores: Stores, _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil
    ) -> StorageError? {
        #expect(throws: StorageError.self) { try stores.open(version, plan).close() }
    }

    /// Waits until the file exists, for at most half a minute.
    fileprivate static func wait(for path: String) {
        var waited = 0
        while waited < 30_000, !FileManager.default.fileExists(atPath: path) {
            usleep(1_000)
            waited += 1
        }
    }

    private func expectMigrated() throws {
        try stores.use(Queue2.self) { container, context in
            #expect(container.migrationReport.versions.isEmpty)
            try #expect(context.all(Queue2.Job.self).map(\.name).sorted() == Self.names)
        }
        #expect(try stores.findings(Queue2.self) == [])
    }

    private static var names: [String] { (0..<count).map { "job \($0)" }.sorted() }

    @Test(arguments: QueuePlan.Kind.allCases)
    func `a store that another process has is not migrated`(kind: QueuePlan.Kind) throws {
        try QueuePlan.$kind.withValue(kind) {
            let lock = try HeldLock(ofStoreIn: stores.directory)
            let files = try FileManager.default.contentsOfDirectory(atPath: stores.directory).sorted()
            for _ in 0..<2 {
                let error = Self.refusal(stores, Queue2.self, QueuePlan.self)
                #expect(error?.code == .lockedByAnother)
                #expect(error?.path?.hasPrefix(stores.directory) == true, "\(error?.description ?? "")")
            }
            let preview = #expect(throws: StorageError.self) { try stores.preview(Queue2.self, QueuePlan.self) }
            #expect(preview?.code == .lockedByAnother)
            #expect(try FileManager.default.contentsOfDirectory(atPath: stores.directory).sorted() == files)
            lock.release()
            try stores.use(Queue1.self) { _, context in
                try #expect(context.all(Queue1.Job.self).map(\.name).sorted() == Self.names)
            }
            try stores.use(Queue2.self, QueuePlan.self) { container, _ in
                #expect(container.migrationReport.versions == ["1.0.0", "2.0.0"])
            }
            try expectMigrated()
        }
    }

    /// The other process is in the code of a stage until the test lets it continue.
    @Test(.timeLimit(.minutes(2)), arguments: QueuePlan.Kind.allCases)
    func `a store that another process migrates is not to be had`(kind: QueuePlan.Kind) async throws {
        // Uses its own thread, because the tasks of other tests may all be waiting.
        let refusals = Guarded<[StorageError.Code?]>([])
        Thread.detachNewThread { [stores] in
            Self.wait(for: stores.directory + "-begun")
            QueuePlan.$kind.withValue(kind) {
                let found = [Self.refusal(stores, Queue2.self, QueuePlan.self), Self.refusal(stores, Queue1.self)]
                refusals.withLock { $0 = found.map { $0?.code } }
            }
            _ = FileManager.default.createFile(atPath: stores.directory + "-goes-on", contents: nil)
        }
        await #expect(processExitsWith: .success) {
            [directory = stores.directory as String, kind = kind as QueuePlan.Kind] in
            let wait = Hook<Void> {
                _ = FileManager.default.createFile(atPath: directory + "-begun", contents: nil)
                LockedMigrationTests.wait(for: directory + "-goes-on")
            }
            try QueuePlan.$kind.withValue(kind) {
                try QueuePlan.$during.withValue(wait) {
                    try Stores(PosixDisk(), directory).open(Queue2.self, QueuePlan.self).close()
                }
            }
        }
        #expect(refusals.withLock { $0 } == [.lockedByAnother, .lockedByAnother])
        try expectMigrated()
    }
}

enum Queue1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Job.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Job {
        var name: String
        init(name: String) { self.name = name }
    }
}

enum Queue2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Job.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Job {
        var name: String
        var length = 0
        init(name: String) {
            self.name = name
            length = name.utf8.count
        }
    }
}

/// A plan with one stage, whose code the test chooses.
enum QueuePlan: SchemaMigrationPlan {
    enum Kind: String, CaseIterable, Codable {
        case streamed, custom, mapped
    }

    @TaskLocal static var kind = Kind.streamed
    @TaskLocal static var during = Hook<Void> {}

    static var schemas: [any VersionedSchema.Type] { [Queue1.self, Queue2.self] }
    static var stages: [MigrationStage] {
        switch kind {
        case .streamed:
            [
                .streamed(
                    fromVersion: Queue1.self, toVersion: Queue2.self,
                    StreamedEntity(Queue1.Job.self) { old, output in
                        try during()
                        try output.insert(Queue2.Job(name: old.name))
                    })
            ]
        case .custom:
            [
                .custom(
                    fromVersion: Queue1.self, toVersion: Queue2.self, willMigrate: nil,
                    didMigrate: { context in
                        try during()
                        for job in try context.fetch(FetchDescriptor<Queue2.Job>()) { job.length = job.name.utf8.count }
                        try context.save()
                    })
            ]
        case .mapped:
            [
                .mapped(
                    fromVersion: Queue1.self, toVersion: Queue2.self,
                    MappingModel(EntityMapping(from: "Job", to: "Job", policy: WaitingPolicy.self)))
            ]
        }
    }
}

private final class WaitingPolicy: EntityMigrationPolicy {
    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws { try QueuePlan.during() }
}
