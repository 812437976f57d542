import FaultlineCommands
import Glibc

/// Kills the demo at random moments, continues it, and checks that it loses nothing that was acknowledged.
///
/// A round begins with an empty store. Its first kills fall into the import, the others into the migration; then the
/// demo runs to its end, comparison included.
package struct KillRounds {
    /// Kills in a round.
    private static let killsInRound = 10

    private let options: DemoOptions
    private let killCount: Int
    private let seed: UInt64
    private var state: UInt64
    private var done = 0
    private var duringImport = 0
    private var duringMigration = 0
    private var lost = 0
    private var violations: [String] = []
    /// Seconds that the phases take, as far as is known.
    private var importSeconds = 1.0
    private var migrationSeconds = 1.0

    package init(_ options: DemoOptions, killCount: Int, seed: UInt64) {
        self.options = options
        self.killCount = killCount
        self.seed = seed
        state = seed
    }

    /// Runs all rounds and prints the JSON line.
    package mutating func run() throws {
        Terminal.messages.write("seed \(seed)\n")
        try runThrough(isFresh: true)
        var rounds = 1
        while done < killCount {
            let count = min(Self.killsInRound, killCount - done)
            let importKills = (count + 1) / 2
            for number in 0..<count {
                let isImport = number < importKills
                let kills = isImport ? importKills : count - importKills
                let phase = isImport ? "import" : "migrate"
                // The kills of a phase share its time, so that all of them fall into it.
                let seconds = (isImport ? importSeconds : migrationSeconds) / Double(kills) * 1.2
                try killOnce(phase, after: random() * seconds, isFresh: number == 0)
            }
            try runThrough(isFresh: false)
            rounds += 1
        }
        var line = JSONLine()
        line.add("kills", done)
        line.add("lost", lost)
        line.add("violations", violations.count)
        line.add("kills_during_import", duringImport)
        line.add("kills_during_migration", duringMigration)
        line.add("runs_to_the_end", rounds)
        line.add("seed", "\(seed)")
        if let first = violations.first { line.add("reason", first) }
        Terminal.output.write(line.line + "\n")
        if lost > 0 || !violations.isEmpty { endProcess(CommandFailure.refused) }
    }

    /// Starts the demo, and kills it the given number of seconds into a phase.
    private mutating func killOnce(_ phase: String, after seconds: Double, isFresh: Bool) throws {
        let child = try start(isFresh: isFresh)
        var deadline: Double?
        var current = ""
        while true {
            if let deadline {
                let rest = deadline - monotonicSeconds()
                if rest <= 0 || !child.waitForOutput(seconds: rest) { break }
            }
            guard let line = child.line() else {
                // It ended before the time of its kill.
                let status = child.finish()
                if status != 0 { violations.append("a run that was to be killed ended with status \(status)") }
                return
            }
            take(line)
            if line.hasPrefix("phase ") { current = String(line.dropFirst(6)) }
            if line == "phase \(phase)" { deadline = monotonicSeconds() + seconds }
        }
        child.kill()
        done += 1
        if current == "import" { duringImport += 1 }
        if current == "migrate" { duringMigration += 1 }
        Terminal.messages.write(
            "kill \(done) of \(killCount): \(Quantity.seconds(seconds)) after the beginning of \(phase), during \(current)\n"
        )
    }

    /// Runs the demo to its end, and measures the times of its phases.
    private mutating func runThrough(isFresh: Bool) throws {
        let child = try start(isFresh: isFresh)
        var last = ""
        var begins: [String: Double] = [:]
        while let line = child.line() {
            if line.hasPrefix("phase ") { begins[String(line.dropFirst(6))] = monotonicSeconds() }
            take(line)
            last = line
        }
        let status = child.finish()
        if status != 0 || !last.hasPrefix(#"{"demo":"ok""#) {
            violations.append("a run to the end ended with status \(status): \(last)")
            Terminal.messages.write("violation: \(last)\n")
        }
        if isFresh, let begin = begins["import"], let read = begins["read"], let migrate = begins["migrate"],
            let compare = begins["compare"]
        {
            importSeconds = read - begin
            migrationSeconds = compare - migrate
        }
    }

    private mutating func take(_ line: String) {
        if line.hasPrefix("lost "), let count = Int(line.dropFirst(5)) { lost += count }
    }

    private func start(isFresh: Bool) throws(SourceError) -> ChildProcess {
        var arguments = ["demo", options.store, "--announce", "--blob-mib", "\(options.blobMiB)"]
        arguments += ["--cache-mib", "\(options.cacheMiB)", "--ceiling-mib", "\(options.ceilingMiB)"]
        arguments += ["--objects", "\(options.leastObjectCount)"]
        if let folder = options.folder { arguments += ["--folder", folder] }
        if isFresh { arguments.append("--fresh") }
        return try ChildProcess(arguments, hasOwnGroup: true)
    }

    /// A number of at least 0 and below 1: SplitMix64.
    private mutating func random() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return Double((mixed ^ mixed >> 31) >> 11) / Double(1 << 53)
    }
}
