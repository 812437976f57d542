import FaultlineTestSupport

/// Compares the peaks of memory of migrations of different sizes, each in a child process, at the lowest ceiling.
///
/// A peak must stay within the ceiling plus 16 MiB over the memory before, and must not follow the size of the store.
struct MigrationPeaksProof {
    static let ceiling = 16
    private static let largest = (ceiling + 16) << 20

    /// A migration to measure.
    private struct Trial {
        let rows: Int
        let payloadByteCount: Int
        var isByPolicy = false
        /// Whether a container of the old version stays open, whose budget is four times the ceiling.
        var isHeld = false

        /// Migrates a new store.
        ///
        /// - Returns: The peak in bytes over the memory before; nil if the migration failed.
        func peak() throws -> Int? {
            let folder = TemporaryDirectory()
            let store = folder.path + "/store"
            let words = (isByPolicy ? ["policy"] : []) + (isHeld ? ["held"] : [])
            let prepared = try ProofProcess(
                ["prepare", store, "\(rows)", "\(payloadByteCount)"], of: "MigrationProofs")
            let run = try ProofProcess(["migrate", store, "\(rows)", "\(ceiling)"] + words, of: "MigrationProofs")
            let peak = run["rows"] == rows ? run["over_baseline"] : nil
            print(
                """
                {"rows":\(rows),"row_bytes":\(payloadByteCount),"policy":\(isByPolicy),"held":\(isHeld),\
                "over_baseline":\(peak ?? -1)}
                """)
            return prepared.status == 0 && run.status == 0 ? peak : nil
        }
    }

    init(_ arguments: [String]) throws {
        guard arguments.isEmpty else { throw WrongUsage(message: "peaks takes no arguments") }
    }

    func run() throws -> Int32 {
        var comparison = Comparison()
        try comparison.compareSizesOfRows()
        for isByPolicy in [false, true] {
            try comparison.compareNumbersOfObjects(isByPolicy)
            _ = try comparison.peak(Trial(rows: 400_000, payloadByteCount: 100, isByPolicy: isByPolicy, isHeld: true))
        }
        try comparison.measureCustomStage("inserts", count: 500_000)
        try comparison.measureCustomStage("members", count: 500_000)
        comparison.violations.forEach { print("violation: \($0)") }
        print("{\"ceiling\":\(Self.ceiling),\"violations\":\(comparison.violations.count)}")
        return comparison.violations.isEmpty ? 0 : 1
    }

    /// Runs trials and gathers violations.
    private struct Comparison {
        private(set) var violations: [String] = []

        /// The large rows amount to fifteen times the ceiling; many small ones add their table pages and index entries.
        mutating func compareSizesOfRows() throws {
            let small = try peak(Trial(rows: 60_000, payloadByteCount: 4))
            let large = try peak(Trial(rows: 60_000, payloadByteCount: 3_900))
            _ = try peak(Trial(rows: 400_000, payloadByteCount: 4))
            guard abs(small - large) > 8 << 20 else { return }
            violations.append("the peak follows the size of rows: \(small) and \(large)")
        }

        /// The second migration reads four times as many objects through its contexts; its caches fill up to the
        /// ceiling.
        mutating func compareNumbersOfObjects(_ isByPolicy: Bool) throws {
            let few = try peak(Trial(rows: 40_000, payloadByteCount: 100, isByPolicy: isByPolicy))
            let many = try peak(Trial(rows: 160_000, payloadByteCount: 100, isByPolicy: isByPolicy))
            guard many - few > 6 << 20 else { return }
            violations.append("the peak follows the number of objects: \(few) and \(many)")
        }

        /// A custom stage with one save at its end, whose new objects would take more than a hundred MiB.
        mutating func measureCustomStage(_ shape: String, count: Int) throws {
            let run = try ProofProcess(["custom", shape, "\(count)", "\(ceiling)"], of: "MigrationProofs")
            run.lines.forEach { print($0) }
            guard run.status == 0, let peak = run["over_baseline"] else {
                return violations.append("the custom stage of \(count) \(shape) failed")
            }
            if peak > largest { violations.append("\(peak) bytes over the memory before, of \(largest)") }
        }

        mutating func peak(_ trial: Trial) throws -> Int {
            guard let peak = try trial.peak() else {
                violations.append("the migration of \(trial.rows) rows failed")
                return 0
            }
            if peak > largest { violations.append("\(peak) bytes over the memory before, of \(largest)") }
            return peak
        }
    }
}
