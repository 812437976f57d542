import Faultline
import FaultlineMigration
import FaultlineTestSupport
import Testing

/// A disk that is too small is detected before a migration begins.
struct DiskSpaceTests {
    enum V1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Page.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Page {
            var text: String
            init(text: String) { self.text = text }
        }
    }

    enum V2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Page.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Page {
            var byteCount: Int
            init(byteCount: Int) { self.byteCount = byteCount }
        }
    }

    private enum Streamed: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] {
            [
                .streamed(
                    fromVersion: V1.self, toVersion: V2.self,
                    StreamedEntity(V1.Page.self) { old, output in
                        try output.insert(V2.Page(byteCount: old.text.utf8.count))
                    })
            ]
        }
    }

    private enum Mapped: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] {
            [
                .mapped(
                    fromVersion: V1.self, toVersion: V2.self,
                    MappingModel(
                        EntityMapping(
                            from: "Page", to: "Page",
                            attributes: [PropertyMapping("byteCount", .computed { _, _ in 1_000 })])))
            ]
        }
    }

    @Test(arguments: [0, 1])
    func `a disk with too little room is refused before anything is written`(kind: Int) throws {
        let disk = SimulatedDisk(directories: ["/s"])
        let stores = Stores(disk, "/s/store")
        let plan: any SchemaMigrationPlan.Type = kind == 0 ? Streamed.self : Mapped.self
        try stores.use(V1.self) { _, context in
            for _ in 0..<400 { context.insert(V1.Page(text: String(repeating: "t", count: 1_000))) }
            try context.save()
        }
        let used = disk.byteCapacity - Int(try disk.freeByteCount(in: "/s"))
        disk.byteCapacity = used + 420_000
        let files = try disk.names(in: "/s/store")
        let error = #expect(throws: MigrationError.self) { try stores.open(V2.self, plan) }
        #expect(error?.code == .fullDisk && error?.stage == "1.0.0 → 2.0.0")
        #expect(try disk.names(in: "/s/store").sorted() == files.sorted())
        try stores.use(V1.self) { _, context in try #expect(context.fetchCount(FetchDescriptor<V1.Page>()) == 400) }

        // The closure makes the values much smaller.
        var options = MigrationOptions()
        options.checksSpace = false
        try stores.use(V2.self, plan, migration: options) { _, context in
            try #expect(context.fetchCount(FetchDescriptor<V2.Page>()) == 400)
        }
    }

    /// This disk has no hard links: all files are copied.
    @Test(arguments: [false, true])
    func `a dry run on a copy leaves the room of the running service alone`(hasRoomForCopy: Bool) throws {
        let disk = SimulatedDisk(directories: ["/s"])
        let stores = Stores(disk, "/s/store")
        try stores.use(V1.self) { _, context in
            for _ in 0..<400 { context.insert(V1.Page(text: String(repeating: "t", count: 1_000))) }
            try context.save()
        }
        let used = disk.byteCapacity - Int(try disk.freeByteCount(in: "/s"))
        disk.byteCapacity = used + (hasRoomForCopy ? used / 10 * 11 + 300_000 : 100_000)
        var options = MigrationOptions(unhandledData: .drop)
        options.previewsCopy = true
        let error = #expect(throws: MigrationError.self) {
            try stores.preview(V2.self, Streamed.self, migration: options)
        }
        #expect(error?.code == .fullDisk && error?.message.contains("skip-space-check") == true)
        #expect(error?.stage == (hasRoomForCopy ? "1.0.0 → 2.0.0" : nil), "\(String(describing: error))")
        #expect(try disk.names(in: "/s") == ["store"])
        #expect(try disk.byteCapacity - Int(disk.freeByteCount(in: "/s")) <= used + 100)
        guard hasRoomForCopy else { return }
        // A sample writes little; the closure makes the values much smaller.
        let sampled = try stores.preview(V2.self, Streamed.self, migration: options, sample: 10)
        #expect(sampled.objectsRead == 10)
        options.checksSpace = false
        let report = try stores.preview(V2.self, Streamed.self, migration: options)
        #expect(report.objectsRead == 400)
    }

    enum Copied2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Page.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Page {
            var text: String
            var byteCount: Int = 0
            init(text: String) { self.text = text }
        }
    }

    enum Copied3: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Page.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

        @Model final class Page {
            var text: String
            var byteCount: Int = 0
            var isLong: Bool = false
            init(text: String) { self.text = text }
        }
    }

    private enum Custom: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, Copied2.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: V1.self, toVersion: Copied2.self, willMigrate: nil,
                    didMigrate: { context in
                        for page in try context.all(Copied2.Page.self) { page.byteCount = page.text.utf8.count }
                        try context.save()
                    })
            ]
        }
    }

    private enum Twice: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, Copied2.self, Copied3.self] }
        static var stages: [MigrationStage] {
            Custom.stages + [
                .custom(
                    fromVersion: Copied2.self, toVersion: Copied3.self,
                    willMigrate: { context in _ = try context.fetchCount(FetchDescriptor<Copied2.Page>()) },
                    didMigrate: nil)
            ]
        }
    }

    /// The rows are copied once by each stage: 400 KB, and a tenth more.
    @Test(arguments: [1, 2]) func `B6: the copies of custom stages count, those of all stages`(count: Int) throws {
        let disk = SimulatedDisk(directories: ["/s"])
        let stores = Stores(disk, "/s/store")
        let plan: any SchemaMigrationPlan.Type = count == 1 ? Custom.self : Twice.self
        let version: any VersionedSchema.Type = count == 1 ? Copied2.self : Copied3.self
        try stores.use(V1.self) { _, context in
            for _ in 0..<400 { context.insert(V1.Page(text: String(repeating: "t", count: 1_000))) }
            try context.save()
        }
        let used = disk.byteCapacity - Int(try disk.freeByteCount(in: "/s"))
        disk.byteCapacity = used + count * 440_000
        let files = try disk.names(in: "/s/store")
        let error = #expect(throws: MigrationError.self) { try stores.open(version, plan) }
        #expect(error?.code == .fullDisk)
        #expect(error?.stage == (count == 1 ? "1.0.0 → 2.0.0" : "2.0.0 → 3.0.0"))
        #expect(try disk.names(in: "/s/store").sorted() == files.sorted())
        try stores.use(V1.self) { _, context in try #expect(context.fetchCount(FetchDescriptor<V1.Page>()) == 400) }
        disk.byteCapacity = used + (count + 1) * 900_000
        try stores.use(version, plan) { container, _ in
            #expect(container.migrationReport.objectsCopied == count * 400)
        }
    }

    private enum Failing: SchemaMigrationPlan {
        struct Stopped: Error {}
        @TaskLocal static var revision = 0
        static var schemas: [any VersionedSchema.Type] { Twice.schemas }
        static var stages: [MigrationStage] {
            let revision = revision
            return [
                .custom(
                    fromVersion: V1.self, toVersion: Copied2.self, revision: revision, willMigrate: nil,
                    didMigrate: { _ in }),
                .custom(
                    fromVersion: Copied2.self, toVersion: Copied3.self, willMigrate: nil,
                    didMigrate: { _ in if revision == 0 { throw Stopped() } }),
            ]
        }
    }

    /// The second stage has failed, and the disk has become fuller before the corrected release comes.
    @Test func `a migration that begins again is checked like a new one`() throws {
        let disk = SimulatedDisk(directories: ["/s"])
        let stores = Stores(disk, "/s/store")
        try stores.use(V1.self) { _, context in
            for _ in 0..<400 { context.insert(V1.Page(text: String(repeating: "t", count: 1_000))) }
            try context.save()
        }
        let error = #expect(throws: MigrationError.self) { try stores.open(Copied3.self, Failing.self) }
        #expect(error?.code == .stageFailed)
        let capacity = disk.byteCapacity
        disk.byteCapacity = capacity - Int(try disk.freeByteCount(in: "/s")) + 600_000
        try Failing.$revision.withValue(1) {
            let error = #expect(throws: MigrationError.self) { try stores.open(Copied3.self, Failing.self) }
            #expect(error?.code == .fullDisk)
            try stores.use(V1.self) { _, context in try #expect(context.fetchCount(FetchDescriptor<V1.Page>()) == 400) }
            disk.byteCapacity = capacity
            try stores.use(Copied3.self, Failing.self) { _, context in
                try #expect(context.fetchCount(FetchDescriptor<Copied3.Page>()) == 400)
            }
        }
    }

    @Test func `with room enough nothing is said`() throws {
        let disk = SimulatedDisk(directories: ["/s"])
        let stores = Stores(disk, "/s/store")
        try stores.use(V1.self) { _, context in
            for _ in 0..<400 { context.insert(V1.Page(text: String(repeating: "t", count: 1_000))) }
            try context.save()
        }
        disk.byteCapacity = disk.byteCapacity - Int(try disk.freeByteCount(in: "/s")) + 900_000
        try stores.use(V2.self, Streamed.self) { _, context in
            try #expect(context.fetchCount(FetchDescriptor<V2.Page>()) == 400)
        }
    }

    /// A stage that finds the disk full again and again is resumed when there is room.
    @Test func `a full disk does not count as an attempt`() throws {
        let disk = SimulatedDisk(directories: ["/s"])
        let stores = Stores(disk, "/s/store")
        try stores.use(V1.self) { _, context in
            for _ in 0..<400 { context.insert(V1.Page(text: String(repeating: "t", count: 1_000))) }
            try context.save()
        }
        var options = MigrationOptions()
        options.checksSpace = false
        options.batchByteCount = 350_000
        let capacity = disk.byteCapacity
        for _ in 0..<6 {
            // There is room for the migration's record, and never for a batch.
            disk.byteCapacity = capacity
            disk.byteCapacity -= Int(try disk.freeByteCount(in: "/s")) - 250_000
            let error = #expect(throws: (any Error).self) {
                try stores.use(Copied2.self, Copying.self, migration: options) { _, _ in }
            }
            let cause = (error as? MigrationError)?.cause ?? error
            #expect((cause as? StorageError)?.code == .fullDisk, "\(String(describing: error))")
        }
        disk.byteCapacity = capacity
        try stores.use(Copied2.self, Copying.self, migration: options) { container, context in
            #expect(container.migrationReport.resumes > 0)
            try #expect(context.fetchCount(FetchDescriptor<Copied2.Page>()) == 400)
        }
    }

    private enum Copying: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, Copied2.self] }
        static var stages: [MigrationStage] {
            [
                .streamed(
                    fromVersion: V1.self, toVersion: Copied2.self,
                    StreamedEntity(V1.Page.self) { old, output in
                        let new = Copied2.Page(text: old.text)
                        new.byteCount = old.text.utf8.count
                        try output.insert(new)
                    })
            ]
        }
    }
}
