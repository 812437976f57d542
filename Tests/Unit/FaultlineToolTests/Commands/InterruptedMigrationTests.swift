import Faultline
import FaultlineTestSupport
import FaultlineTool
import Glibc
import Testing

/// `faultline migrate` in a process that gets SIGINT during its work, as from Ctrl-C.
struct InterruptedMigrationTests {
    enum Tickets1 {
        @Model final class Ticket {
            var code: String
            init(code: String) { self.code = code }
        }
    }

    enum Tickets2 {
        @Model final class Ticket {
            var code: String
            var place: Int
            init(code: String, place: Int) {
                self.code = code
                self.place = place
            }
        }
    }

    private static let count = 30_000
    private let folder: TemporaryDirectory
    private var store: String { folder.path + "/old" }
    private var goal: String { folder.path + "/goal" }
    private var file: String { folder.path + "/mapping.json" }
    private var report: String { folder.path + "/report.json" }

    init() throws {
        folder = TemporaryDirectory()
        let container = try ModelContainer(
            for: Tickets1.Ticket.self, configurations: ModelConfiguration(url: URL(filePath: store)))
        let context = ModelContext(container)
        for number in 0..<Self.count { context.insert(Tickets1.Ticket(code: "row-\(number % 700)")) }
        try context.save()
        try container.close()
        try ModelContainer(
            for: Tickets2.Ticket.self, configurations: ModelConfiguration(url: URL(filePath: goal))
        ).close()
        let mapping = """
            {"mappings": [
                {"from": "Ticket", "to": "Ticket", "name": "tickets",
                 "attributes": {
                     "code": {"source": "code"},
                     "place": {"split": "code", "separator": "-", "part": 1}}}
            ]}
            """
        try Data(mapping.utf8).write(to: URL(filePath: file))
    }

    @Test func `it is cancelled, and goes on with --resume`() async throws {
        let result = try await #require(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
            [store = store as String, goal = goal as String, file = file as String] in
            interruptThisProcess(whenItHasWritten: 200_000, to: store)
            runFaultlineTool(["migrate", store, "--to", goal, "--mapping", file, "--memory", "16"])
        }
        #expect(text(result.standardErrorContent).contains("was cancelled"), "\(text(result.standardErrorContent))")
        // No other migration is begun instead.
        await #expect(processExitsWith: .exitCode(1)) { [store = store as String] in
            runFaultlineTool(["migrate", store, "--resume"])
        }
        await #expect(processExitsWith: .success) {
            [store = store as String, file = file as String, report = report as String] in
            runFaultlineTool(["migrate", store, "--resume", "--mapping", file, "--report", report])
        }
        let report = try MigrationReport(json: String(contentsOf: URL(filePath: report), encoding: .utf8))
        #expect(report.resumes == 1)
        #expect(report.objectsRead == Self.count && report.objectsWritten == Self.count)
        let container = try ModelContainer(
            for: Tickets2.Ticket.self, configurations: ModelConfiguration(url: URL(filePath: store)))
        #expect(container.migrationReport.versions.isEmpty)
        var places = [Int](repeating: 0, count: 700)
        try ModelContext(container).enumerate(FetchDescriptor<Tickets2.Ticket>()) { places[$0.place] += 1 }
        #expect(places == (0..<700).map { Self.count / 700 + ($0 < Self.count % 700 ? 1 : 0) })
        try container.close()
    }
}

/// Sends SIGINT to this process once the files of a directory have grown by `byteCount` bytes.
private func interruptThisProcess(whenItHasWritten byteCount: Int, to directory: String) {
    @Sendable func size() -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.reduce(0) { sum, name in
            var status = stat()
            return stat(directory + "/" + name, &status) == 0 ? sum + Int(status.st_size) : sum
        }
    }
    let before = size()
    Thread.detachNewThread {
        while size() < before + byteCount { usleep(500) }
        kill(getpid(), SIGINT)
    }
}
