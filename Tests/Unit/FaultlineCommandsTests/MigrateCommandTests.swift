import Faultline
import FaultlineCommands
import FaultlineTestSupport
import Foundation
import Testing

/// The command as part of a user's executable, each time in a separate process.
struct MigrateCommandTests {
    private let folder = TemporaryDirectory()
    private var store: String { folder.path + "/store" }

    private func make(titles: [String]) throws {
        let container = try open(Books1.self)
        let context = ModelContext(container)
        for title in titles {
            let book = Books1.Book(title: title)
            book.note = title.isEmpty ? nil : "n"
            context.insert(book)
        }
        try context.save()
        try container.close()
    }

    private func open(_ version: any VersionedSchema.Type) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: version),
            configurations: ModelConfiguration(url: URL(filePath: store, directoryHint: .isDirectory)))
    }

    /// Closes the store if it has the version.
    private func expect(_ version: any VersionedSchema.Type) throws {
        let container = try open(version)
        #expect(container.migrationReport.versions.isEmpty)
        try container.close()
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `migrates, and writes the report for scripts and into a file`() async throws {
        try make(titles: ["one", "two words", "three words here"])
        let file = folder.path + "/report.json"
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
        ) { [store = store as String, file = file as String] in
            MigrateCommand<BookPlan>.main([store, "--json", "--report", file, "--memory", "16"])
        }
        let report = try MigrationReport(json: text(result.standardOutputContent))
        #expect(report.versions == ["1.0.0", "2.0.0"])
        #expect(report.objectsRead == 3 && report.objectsWritten == 3)
        #expect(try MigrationReport(json: String(contentsOfFile: file, encoding: .utf8)) == report)
        #expect(text(result.standardErrorContent).isEmpty)
        try expect(Books2.self)
    }

    @Test func `a dry run names what fails, and leaves the store as it was`() async throws {
        try make(titles: ["one", "", "three"])
        let result = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardOutputContent, \.standardErrorContent]
        ) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store, "--dry-run"])
        }
        #expect(text(result.standardOutputContent).contains("code: Book 2, to 2.0.0"))
        #expect(text(result.standardErrorContent).contains("It is as it was."))
        try expect(Books1.self)
    }

    @Test func `a run that fails writes its report into the file, with the error and its object`() async throws {
        try make(titles: ["one", ""])
        let file = folder.path + "/report.json"
        await #expect(processExitsWith: .exitCode(1)) { [store = store as String, file = file as String] in
            MigrateCommand<BookPlan>.main([store, "--report", file])
        }
        let report = try MigrationReport(json: String(contentsOfFile: file, encoding: .utf8))
        let stop = try #require(report.stop)
        #expect(stop.code == "stageFailed" && stop.stage == "1.0.0 → 2.0.0")
        #expect(stop.entity == "Book" && stop.object == 2 && stop.error.contains("Book 2"))
        #expect(report.versions == ["1.0.0", "2.0.0"] && report.objectsRead == 2 && !report.isDryRun)
        #expect(report.text.contains("  stopped at 1.0.0 → 2.0.0, Book 2: "))
        // Three resumes fail too; then the report has the work that is kept.
        for _ in 0..<4 {
            await #expect(processExitsWith: .exitCode(1)) { [store = store as String, file = file as String] in
                MigrateCommand<BookPlan>.main([store, "--report", file])
            }
        }
        let last = try MigrationReport(json: String(contentsOfFile: file, encoding: .utf8))
        #expect(last.stop?.code == "noProgress" && last.stop?.object == 2)
        // An operator may resume it all the same, and the error of the closure comes back.
        await #expect(processExitsWith: .exitCode(1)) { [store = store as String, file = file as String] in
            MigrateCommand<BookPlan>.main([store, "--resume", "--report", file])
        }
        let resumed = try MigrationReport(json: String(contentsOfFile: file, encoding: .utf8))
        #expect(resumed.stop?.code == "stageFailed")
    }

    @Test func `a store that cannot be opened is reported in the file, too`() async throws {
        try make(titles: ["one"])
        let held = try HeldLock(ofStoreIn: store)
        defer { held.release() }
        let file = folder.path + "/report.json"
        await #expect(processExitsWith: .exitCode(3)) { [store = store as String, file = file as String] in
            MigrateCommand<BookPlan>.main([store, "--report", file])
        }
        let report = try MigrationReport(json: String(contentsOfFile: file, encoding: .utf8))
        #expect(report.stop?.error.contains("is open for writing elsewhere") == true)
    }

    @Test func `a dry run on a copy works while another process writes the store`() async throws {
        try make(titles: ["one", "two words"])
        await #expect(processExitsWith: .exitCode(2)) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store, "--copy"])
        }
        let held = try HeldLock(ofStoreIn: store)
        await #expect(processExitsWith: .exitCode(1)) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store, "--dry-run"])
        }
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [store = store as String] in
            MigrateCommand<BookPlan>.main([store, "--dry-run", "--copy", "--json"])
        }
        held.release()
        let report = try MigrationReport(json: text(result.standardOutputContent))
        #expect(report.isDryRun && report.objectsRead == 2 && report.failures.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"])
        try expect(Books1.self)
    }

    @Test func `a migration that fails says at which object, and the next run goes on`() async throws {
        try make(titles: ["one", ""])
        let result = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardErrorContent]
        ) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store])
        }
        #expect(text(result.standardErrorContent).hasPrefix("migrate: "))
        #expect(text(result.standardErrorContent).contains("Book 2"))
        // It can resume, so a dry run of it is refused.
        await #expect(processExitsWith: .exitCode(1)) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store, "--dry-run"])
        }
        await #expect(processExitsWith: .exitCode(1)) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store, "--resume"])
        }
        try expect(Books1.self)
        // The old schema has abandoned it.
        await #expect(processExitsWith: .exitCode(1)) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store, "--resume"])
        }
    }

    /// The signal comes from a closure; the next ones wait until it has arrived.
    @Test(arguments: [SIGINT, SIGTERM]) func `a signal cancels it, and --resume goes on`(signal: Int32) async throws {
        try make(titles: (0..<2_000).map { "title \($0)" })
        let result = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardErrorContent]
        ) { [store = store as String, signal = signal as Int32] in
            let during = Hook<String> { title in
                let number = Int(title.dropFirst(6)) ?? 0
                if number == 1_000 { kill(getpid(), signal) }
                if number > 1_000 { usleep(10_000) }
            }
            BookPlan.$during.withValue(during) { MigrateCommand<BookPlan>.main([store]) }
        }
        #expect(text(result.standardErrorContent).contains("was cancelled"), "\(text(result.standardErrorContent))")
        let resumed = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [store = store as String] in
            let during = Hook<String> { title in
                precondition(Int(title.dropFirst(6)) ?? 0 > 1_000, "\(title) was done.")
            }
            BookPlan.$during.withValue(during) { MigrateCommand<BookPlan>.main([store, "--resume", "--json"]) }
        }
        let report = try MigrationReport(json: text(resumed.standardOutputContent))
        #expect(report.resumes == 1 && report.objectsRead == 2_000 && report.objectsWritten == 2_000)
        try expect(Books2.self)
    }

    @Test func `A12: --restart drops the work of a migration that was stopped`() async throws {
        try make(titles: (0..<2_000).map { "title \($0)" })
        await #expect(processExitsWith: .exitCode(1)) { [store = store as String] in
            let during = Hook<String> { title in
                if title == "title 1000" { kill(getpid(), SIGTERM) }
                if Int(title.dropFirst(6)) ?? 0 > 1_000 { usleep(10_000) }
            }
            BookPlan.$during.withValue(during) { MigrateCommand<BookPlan>.main([store]) }
        }
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [store = store as String] in
            MigrateCommand<BookPlan>.main([store, "--restart", "--json"])
        }
        let report = try MigrationReport(json: text(result.standardOutputContent))
        #expect(report.stages.map(\.restarts) == [1])
        #expect(report.resumes == 0 && report.objectsRead == 2_000 && report.objectsWritten == 2_000)
        try expect(Books2.self)
    }

    @Test func `a store that another process has cannot be opened`() async throws {
        try make(titles: ["one"])
        let lock = try HeldLock(ofStoreIn: store)
        let result = try await #require(
            processExitsWith: .exitCode(3), observing: [\.standardErrorContent]
        ) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store])
        }
        #expect(text(result.standardErrorContent).contains(store))
        lock.release()
        await #expect(processExitsWith: .success) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store])
        }
        try expect(Books2.self)
    }

    @Test func `objects that cannot be converted are put aside on request`() async throws {
        try make(titles: ["one", ""])
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [store = store as String] in
            MigrateCommand<BookPlan>.main([store, "--quarantine", "1"])
        }
        #expect(text(result.standardOutputContent).contains("in quarantine: 1 object of Book, to 2.0.0: code"))
        try expect(Books2.self)
        await #expect(processExitsWith: .exitCode(2)) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store, "--quarantine", "0"])
        }
    }

    @Test func `a sample says nothing of the objects behind it`() async throws {
        try make(titles: ["one", "two", ""])
        await #expect(processExitsWith: .success) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store, "--dry-run", "--sample", "2"])
        }
        await #expect(processExitsWith: .exitCode(2)) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store, "--sample", "2"])
        }
    }

    @Test func `data that no stage handles is kept on request`() async throws {
        try make(titles: ["one"])
        await #expect(processExitsWith: .success) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store, "--dry-run", "--keep-data"])
        }
    }

    @Test func `wrong usage and missing stores have their own status`() async throws {
        await #expect(processExitsWith: .exitCode(2)) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store, "--memory", "8"])
        }
        await #expect(processExitsWith: .exitCode(2)) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store, "--dry-run", "--resume"])
        }
        for other in ["--dry-run", "--resume"] {
            await #expect(processExitsWith: .exitCode(2)) { [store = store as String, other = other as String] in
                MigrateCommand<BookPlan>.main([store, "--restart", other])
            }
        }
        await #expect(processExitsWith: .exitCode(3)) { [store = store as String] in
            MigrateCommand<BookPlan>.main([store])
        }
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    @Test func `progress says pass, entity and stage`() {
        let stage = MigrationProgress.Stage(from: "1.0.0", to: "2.0.0", place: 1, count: 3)
        #expect(MigrationDisplay.label(.instances, of: "Book", stage) == "instances Book (to 2.0.0, 1 of 3)")
        let again = MigrationProgress.Stage(from: "1.0.0", to: "2.0.0", place: 1, count: 1, isRestarted: true)
        #expect(MigrationDisplay.label(.instances, of: "Book", again) == "instances Book (to 2.0.0, begun again)")
        #expect(MigrationDisplay.label(.switching, of: "", nil) == "switching")
    }
}
