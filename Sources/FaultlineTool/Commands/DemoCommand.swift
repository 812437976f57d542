import ArgumentParser
import FaultlineCommands
import FaultlineLog
import PackageArchive

/// `faultline demo`: stores, faults and migrates this machine's own package database.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "demo",
        abstract: "Stores, faults and migrates this machine's own package database, and compares the outcome with it.",
        example: "faultline demo /tmp/demo.store --fresh"
    )

    @OptionGroup var options: DemoOptions

    @Option(help: "Kills the demo so many times at random moments, runs it on, and checks that nothing is lost.")
    var kills: Int?

    @Option(help: "Seed of the moments of --kills; random if not said.")
    var seed: UInt64?

    func validate() throws {
        if let kills, kills < 1 { throw ValidationError("--kills is at least 1.") }
    }

    func run() throws {
        if let kills {
            var rounds = KillRounds(options, killCount: kills, seed: seed ?? .random(in: 0...0xFFFF_FFFF))
            try CommandFailure.working { try rounds.run() }
            return
        }
        var demo = Demo(options, verifying: Self.verify)
        try demo.run()
    }

    /// The check of `faultline verify`.
    private static func verify(
        _ path: String, progress: (_ done: Int, _ total: Int) -> Void
    ) throws -> Demo.Verdict {
        let store = try OpenedStore(path)
        var findings: [String] = []
        let check = StoreCheck(store) { findings.append($0.description) }
        try check.run(progress: progress)
        return Demo.Verdict(findings: findings, storeByteCount: Int(clamping: try store.log.usage().byteCount))
    }
}
