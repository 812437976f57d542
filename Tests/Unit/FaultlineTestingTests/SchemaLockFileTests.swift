import Faultline
import FaultlineTestSupport
import FaultlineTesting
import Testing

@Suite struct SchemaLockFileTests {
    private let folder = TemporaryDirectory()
    private var file: URL { URL(filePath: "\(folder.path)/Shelf.lock") }

    private func code(_ plan: any SchemaMigrationPlan.Type) -> SchemaLockError.Code? {
        do { try SchemaLock.check(plan, file: file, isUpdating: false) } catch {
            return (error as? SchemaLockError)?.code
        }
        return nil
    }

    @Test func `a lock that is written holds for its plan and for no other`() throws {
        #expect(code(ShelfPlan.self) == .file)
        try SchemaLock.check(ShelfPlan.self, file: file, isUpdating: true)
        #expect(code(ShelfPlan.self) == nil)
        #expect(code(ChangedShelfPlan.self) == .differs)
        try SchemaLock.check(ChangedShelfPlan.self, file: file, isUpdating: true)
        #expect(code(ChangedShelfPlan.self) == nil)
        #expect(code(ShelfPlan.self) == .differs)
    }

    @Test func `a store has the same description as its version in the lock`() throws {
        let configuration = ModelConfiguration(url: URL(filePath: "\(folder.path)/shelf.store"))
        try ModelContainer(
            for: Schema(versionedSchema: Shelf2.self), migrationPlan: ShelfPlan.self, configurations: configuration
        ).close()
        let stored = try ModelContainer(opening: configuration)
        let lock = try SchemaLock([stored.schema])
        #expect(try lock.versions == [SchemaLock(ShelfPlan.self).versions[1]])
    }

    @Test func `a file that is no lock is refused`() throws {
        for bytes in [Data(), Data([0xFF, 0xFE]), Data("version 1.0.0".utf8)] {
            try bytes.write(to: file)
            #expect(code(ShelfPlan.self) == (bytes.first == 0xFF ? .file : .malformed))
        }
        try Data(repeating: 10, count: (16 << 20) + 1).write(to: file)
        #expect(code(ShelfPlan.self) == .file)
    }
}
