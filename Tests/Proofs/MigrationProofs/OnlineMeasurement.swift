import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineTestSupport
import Glibc
import Synchronization

/// The rows of `Measured1` with a unique number and an index of names.
private enum MeasuredOnline2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Employee.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Employee {
        #Index<Employee>([\.name])
        @Attribute(.unique) var number: Int
        var name: String
        var payload: String
        init(number: Int, name: String, payload: String) {
            self.number = number
            self.name = name
            self.payload = payload
        }
    }
}

/// Measures how long saves wait while an online migration builds two indexes.
struct OnlineMeasurement {
    private let directory: String
    private let rows: Int
    private let savesPerSecond: Int

    init(_ arguments: [String]) throws {
        guard arguments.count == 3, let rows = Int(arguments[1]), let rate = Int(arguments[2]),
            (1...100_000_000).contains(rows), (1...100_000).contains(rate)
        else { throw WrongUsage(message: "online needs a directory and two numbers above 0") }
        directory = arguments[0]
        self.rows = rows
        savesPerSecond = rate
    }

    /// Saves of one kind: how many, and the longest.
    private struct Saves {
        var count = 0
        var longest: UInt64 = 0
        mutating func add(_ nanoseconds: UInt64) {
            count += 1
            longest = max(longest, nanoseconds)
        }
    }

    private struct Phases {
        var isMigrating = false
        var before = Saves()
        var during = Saves()
        var failure: String?
    }

    func run() throws -> Int32 {
        try prepareMigrationMeasurement(directory, rows: rows, payloadByteCount: 100)
        var options = LogOptions()
        options.durability = .async
        let old = try ModelContainer(for: Measured1.models, directory: directory, on: PosixDisk(), options: options)
        let phases = Guarded(Phases())
        let threads = TestThreads()
        let pause = 1_000_000_000 / UInt64(savesPerSecond)
        let first = rows
        threads.run {
            let context = ModelContext(old)
            let clock = Clock.system.monotonicNanoseconds
            var number = first
            var due = clock()
            while true {
                number += 1
                context.insert(Measured1.Employee(number: number, name: "late \(number % 100)", payload: "x"))
                let isMigrating = phases.withLock { $0.isMigrating }
                let begin = clock()
                do { try context.save() } catch {
                    let isOutdated = (error as? StorageError)?.code == .outdated
                    phases.withLock { $0.failure = isOutdated ? nil : "\(error)" }
                    return
                }
                let taken = clock() - begin
                phases.withLock { isMigrating ? $0.during.add(taken) : $0.before.add(taken) }
                due += pause
                let now = clock()
                if due > now { usleep(UInt32((due - now) / 1_000)) }
            }
        }
        sleep(2)
        phases.withLock { $0.isMigrating = true }
        var migration = MigrationOptions()
        migration.isOnline = true
        let new = try ModelContainer(
            for: MeasuredOnline2.models, directory: directory, on: PosixDisk(), options: options,
            migration: migration)
        threads.join()
        let result = phases.withLock { $0 }
        if let failure = result.failure {
            ProofShell.note(failure)
            return 1
        }
        let report = new.migrationReport
        let switching = report.lastPasses.first(where: { $0.pass == .switching })?.nanoseconds ?? 0
        let found = try ModelContext(new).fetchCount(FetchDescriptor<MeasuredOnline2.Employee>())
        let isRight = found == rows + result.before.count + result.during.count
        print(
            """
            {"rows":\(rows),"nanoseconds":\(report.nanoseconds),"switch":\(switching),\
            "saves_before":\(result.before.count),"longest_before":\(result.before.longest),\
            "saves":\(result.during.count),"longest":\(result.during.longest),"right":\(isRight)}
            """)
        try new.close()
        try old.close()
        return isRight ? 0 : 1
    }
}
