import Faultline
import FaultlineDisk
import FaultlineMigration
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

/// Migrations of a store into another place.
struct MigratedCopyTests {
    private let folder = TemporaryDirectory()
    private static let plan = MappedWorkPlan.self

    private func url(_ name: String) -> URL {
        URL(filePath: folder.path).appending(path: name, directoryHint: .isDirectory)
    }

    private var old: URL { url("old") }
    private var new: ModelConfiguration { ModelConfiguration(url: url("new")) }
    private var names: [String] { get throws { try PosixDisk().names(in: folder.path) } }

    private func fill() throws { try WorkStore.make(in: Stores(PosixDisk(), folder.path + "/old")) }

    private func migrate(to configuration: ModelConfiguration? = nil) throws -> MigrationReport {
        try ModelContainer.migrateStore(
            from: old, to: configuration ?? new, for: Schema(versionedSchema: Work2.self),
            migrationPlan: MappedWorkPlan.self)
    }

    private func checkOld() throws {
        try Stores(PosixDisk(), folder.path + "/old").use(Work1.self) { container, context in
            #expect(container.migrationReport.versions.isEmpty)
            let employees = try context.all(Work1.Employee.self)
            #expect(employees.count == 200)
            for employee in employees where employee.number % 5 == 0 {
                #expect(employee.photo == WorkStore.photo(employee.number))
            }
        }
    }

    @Test func `the new store is migrated, and the old one is as it was`() throws {
        try fill()
        // The remains of an attempt that was killed.
        let disk = PosixDisk()
        try disk.createDirectory(folder.path + "/new.copying")
        try disk.open(folder.path + "/new.copying/s-0000000000000001.fls", for: .creating).close()
        let report = try migrate()
        #expect(report.versions == ["1.0.0", "2.0.0"] && report.blobsMoved == 40)
        #expect(try names == ["new", "old"])
        let container = try ModelContainer(for: Schema(versionedSchema: Work2.self), configurations: new)
        #expect(container.migrationReport.versions.isEmpty)
        try WorkStore.check(ModelContext(container))
        try container.close()
        try checkOld()
        #expect(try Stores(disk, folder.path + "/new").findings(Work2.self) == [])
    }

    @Test func `a failure leaves no new store`() throws {
        try fill()
        let notes = PolicyNotes { source in if source["number"] as? Int == 155 { throw PolicyNotes.Stopped() } }
        let error = PolicyNotes.$current.withValue(notes) {
            #expect(throws: MigrationError.self) { try migrate() }
        }
        #expect(error?.code == .stageFailed)
        #expect(try names == ["old"])
        try checkOld()
        _ = try migrate()
        #expect(try names == ["new", "old"])
    }

    @Test func `a file that is not of a store is not deleted`() throws {
        try fill()
        let disk = PosixDisk()
        try disk.createDirectory(folder.path + "/new.copying")
        try disk.open(folder.path + "/new.copying/notes.txt", for: .creating).close()
        #expect(throws: StorageError.self) { try migrate() }
        #expect(try disk.names(in: folder.path + "/new.copying") == ["notes.txt"])
        #expect(try names == ["new.copying", "old"])
        try disk.remove(folder.path + "/new.copying/notes.txt")
        _ = try migrate()
        #expect(try names == ["new", "old"])
    }

    @Test func `a place that is taken, a store that is open, and none are refused`() throws {
        #expect(throws: MigrationError.self) { try migrate() }
        #expect(try names == [])
        try fill()
        let open = try ModelContainer(
            for: Schema(versionedSchema: Work1.self), configurations: ModelConfiguration(url: old))
        let locked = #expect(throws: StorageError.self) { try migrate() }
        #expect(locked?.code == .lockedByAnother)
        try open.close()
        let taken = #expect(throws: MigrationError.self) { try migrate(to: ModelConfiguration(url: old)) }
        #expect(taken?.code == .storage)
        let inMemory = #expect(throws: MigrationError.self) {
            try migrate(to: ModelConfiguration(isStoredInMemoryOnly: true))
        }
        #expect(inMemory?.code == .storage)
        #expect(try names == ["old"])
        try checkOld()
    }

    @Test func `a second migration into the same place is refused`() throws {
        try fill()
        let other = url("other")
        try WorkStore.make(in: Stores(PosixDisk(), folder.path + "/other"))
        let refusals = Guarded<[MigrationError.Code?]>([])
        let place = new
        let notes = PolicyNotes { _ in
            guard refusals.withLock({ $0.isEmpty }) else { return }
            let error = #expect(throws: MigrationError.self) {
                try ModelContainer.migrateStore(
                    from: other, to: place, for: Schema(versionedSchema: Work2.self), migrationPlan: MappedWorkPlan.self
                )
            }
            refusals.withLock { $0.append(error?.code) }
        }
        let report = try PolicyNotes.$current.withValue(notes) { try migrate() }
        #expect(refusals.withLock { $0 } == [.underWay] && report.blobsMoved == 40)
        #expect(try names == ["new", "old", "other"])
        let container = try ModelContainer(for: Schema(versionedSchema: Work2.self), configurations: new)
        try WorkStore.check(ModelContext(container))
        try container.close()
    }
}
