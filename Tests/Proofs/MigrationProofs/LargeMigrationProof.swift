import FaultlineTestSupport

/// Migrates a large store with a streamed stage and with a policy, each in a child process.
///
/// The peak of its memory must stay within the ceiling plus 16 MiB over the memory before.
struct LargeMigrationProof {
    private let mebibytes: Int
    private let ceiling: Int
    private let kind: LargeMigration.Kind?
    private let directory: String?
    private let isOfCanary: Bool

    /// - Parameter arguments: The size of the store and the ceiling in MiB, followed by `--canary`, or in a child
    ///   process by the stage and the directory of the store.
    /// - Throws: `WrongUsage`.
    init(_ arguments: [String]) throws {
        isOfCanary = arguments.count == 3 && arguments[2] == "--canary"
        guard [2, 4].contains(arguments.count) || isOfCanary, let mebibytes = Int(arguments[0]),
            let ceiling = Int(arguments[1]), (1...1 << 20).contains(mebibytes), (16...4_096).contains(ceiling)
        else { throw WrongUsage(message: "large needs a size and a ceiling in MiB") }
        self.mebibytes = mebibytes
        self.ceiling = ceiling
        kind = arguments.count == 4 ? LargeMigration.Kind(rawValue: arguments[2]) : nil
        directory = arguments.count == 4 ? arguments[3] : nil
    }

    private var largest: Int { (ceiling + 16) << 20 }

    func run() throws -> Int32 {
        if let directory { return try runChild(directory) }
        if isOfCanary { return try catchCanary() }
        var violationCount = 0
        for kind in LargeMigration.Kind.proven where try !migrate(kind).isKept { violationCount += 1 }
        print("{\"mebibytes\":\(mebibytes),\"ceiling\":\(ceiling),\"violations\":\(violationCount)}")
        return violationCount == 0 ? 0 : 1
    }

    /// Checks that a stage that keeps everything it reads is detected, and only because of its memory.
    private func catchCanary() throws -> Int32 {
        let (isKept, line) = try migrate(.keeping)
        let isCaught = !isKept && line.contains("\"right\":true") && line.contains("\"blob_bytes_read\":0")
        print("{\"mebibytes\":\(mebibytes),\"ceiling\":\(ceiling),\"canaries\":1,\"caught\":\(isCaught ? 1 : 0)}")
        return isCaught ? 0 : 1
    }

    /// Creates and migrates a store, in a separate process each.
    ///
    /// Returns the result and the costs.
    private func migrate(_ kind: LargeMigration.Kind) throws -> (isKept: Bool, line: String) {
        let folder = TemporaryDirectory()
        let words = ["\(mebibytes)", "\(ceiling)"]
        let store = folder.path + "/store"
        let prepared = try ProofProcess(["large"] + words + ["prepare", store], of: "MigrationProofs")
        let migrated = try ProofProcess(["large"] + words + [kind.rawValue, store], of: "MigrationProofs")
        migrated.lines.forEach { print($0) }
        return (prepared.status == 0 && migrated.status == 0, migrated.lines.last ?? "")
    }

    private func runChild(_ directory: String) throws -> Int32 {
        let migration = LargeMigration(
            directory: directory, personCount: LargeMigration.personCount(mebibytes: mebibytes))
        guard let kind else {
            try migration.prepare()
            return 0
        }
        let outcome = try migration.migrate(kind, ceiling: ceiling << 20)
        print(
            """
            {"stage":"\(kind.rawValue)","mebibytes":\(mebibytes),"persons":\(migration.personCount),"over_baseline":\(outcome.peakByteCount),\
            "blob_bytes_read":\(outcome.blobByteCountRead),"seconds":\(outcome.seconds),"right":\(outcome.isRight)}
            """)
        return outcome.isRight && outcome.peakByteCount <= largest && outcome.blobByteCountRead == 0 ? 0 : 1
    }
}
