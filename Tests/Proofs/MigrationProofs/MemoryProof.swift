import Faultline
import FaultlineTestSupport
import Glibc

/// Measures the memory of a migration in a separate process, for the tests that start it.
struct MemoryProof {
    private let directory: String
    private let rows: Int
    private let size: Int
    private let plan: any SchemaMigrationPlan.Type
    /// Whether a container of the old version stays open during the migration.
    private let isHeld: Bool

    init(_ arguments: [String]) throws {
        let words = Set(arguments.dropFirst(3))
        guard words.isSubset(of: ["policy", "held"]), arguments.count == 3 + words.count, let rows = Int(arguments[1]),
            let size = Int(arguments[2]), rows > 0,
            size > 0, rows <= 100_000_000, size <= 1 << 20
        else { throw WrongUsage(message: "a directory and two numbers above 0 are needed") }
        directory = arguments[0]
        self.rows = rows
        self.size = size
        isHeld = words.contains("held")
        plan = words.contains("policy") ? MeasuredPolicyPlan.self : MeasuredPlan.self
    }

    func prepare() throws -> Int32 {
        try prepareMigrationMeasurement(directory, rows: rows, payloadByteCount: size)
        return 0
    }

    func migrate() throws -> Int32 {
        // Flush each line, because the test that kills this process waits for one.
        let measurement = try measureMigration(
            directory, rows: rows, ceiling: size << 20, plan: plan, isHeld: isHeld
        ) { done in
            print("{\"done\":\(done)}")
            fflush(nil)
        }
        print(
            """
            {"rows":\(measurement.rows),"resumes":\(measurement.resumes),"over_baseline":\(measurement.peakByteCount),\
            "seconds":\(measurement.seconds),"right":\(measurement.isRight)}
            """)
        return measurement.isRight ? 0 : 1
    }

    func fillCache() throws -> Int32 {
        let measurement = try measureCache(directory, rows: rows, budget: size << 20)
        print(
            """
            {"bytes_read":\(measurement.byteCount),"allocated_over_baseline":\(measurement.allocatedByteCount),\
            "over_baseline":\(measurement.peakByteCount),"cache_bytes":\(measurement.cacheByteCount)}
            """)
        return 0
    }
}
