import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Testing

/// Values that cannot be read: what stands in for them does not become the new value.
struct StreamedDamageTests {
    enum V1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Note.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Note {
            var title: String
            var body: Data
            init(title: String, body: Data) {
                self.title = title
                self.body = body
            }
        }
    }

    enum V2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Note.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Note {
            var title: String
            var byteCount: Int
            init(title: String, byteCount: Int) {
                self.title = title
                self.byteCount = byteCount
            }
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] {
            [
                .streamed(
                    fromVersion: V1.self, toVersion: V2.self,
                    StreamedEntity(V1.Note.self) { old, output in
                        try output.insert(V2.Note(title: old.title, byteCount: old.body.count))
                    })
            ]
        }
    }

    /// Bytes that do not compress.
    private func body(_ number: Int) -> Data {
        var random = Seed(UInt64(number + 1))
        return Data((0..<9_000).map { _ in UInt8(random.below(256)) })
    }

    @Test(arguments: [1, 2]) func `a value that does not verify stops the stage`(workerCount: Int) throws {
        let disk = SimulatedDisk(directories: ["/s"])
        let stores = Stores(disk, "/s/store")
        try stores.use(V1.self) { _, context in
            for number in 0..<4 { context.insert(V1.Note(title: "n\(number)", body: body(number))) }
            try context.save()
        }
        let path = try #require(
            disk.filePaths.first { FileName.parse(String($0.split(separator: "/").last ?? ""))?.kind == .blobSegment })
        disk.flip(bit: 8 * 500, of: path)
        var options = Stores.dropping
        options.workerCount = workerCount
        let error = #expect(throws: MigrationError.self) {
            try stores.open(V2.self, Plan.self, migration: options)
        }
        #expect(error?.code == .stageFailed)
        #expect((error?.cause as? StorageError)?.code == .damaged)
        try stores.use(V1.self) { _, context in
            let notes = try context.all(V1.Note.self).sorted { $0.title < $1.title }
            #expect(notes.map(\.title) == ["n0", "n1", "n2", "n3"])
            #expect(notes[3].body == body(3))
        }
    }
}
