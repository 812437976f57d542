import Glibc

/// Runs proofs of migrations, and measurements that need model classes: one JSON line each.
///
/// Apart from `FaultlineProofs`, which builds without the macros.
@main
struct MigrationProofs {
    static let usage = """
        usage: MigrationProofs crash --seeds COUNT | --seed ONE       power cuts in migrations
               MigrationProofs prepare DIRECTORY ROWS BYTES      a store of the old version
               MigrationProofs migrate DIRECTORY ROWS CEILING    its migration; the ceiling in MiB
               MigrationProofs cache DIRECTORY ROWS BUDGET       reads all rows twice; the budget in MiB
        """

    static func main() {
        var arguments = Array(CommandLine.arguments.dropFirst())
        guard let command = arguments.first else { fail(usage, status: 2) }
        arguments.removeFirst()
        do {
            switch command {
            case "crash": try exit(MigrationCrashProof(arguments).run())
            case "prepare": try exit(MemoryProof(arguments).prepare())
            case "migrate": try exit(MemoryProof(arguments).migrate())
            case "cache": try exit(MemoryProof(arguments).fillCache())
            default: fail(usage, status: 2)
            }
        } catch let error as WrongUsage {
            fail("\(error.message)\n\(usage)", status: 2)
        } catch {
            fail("\(error)", status: 1)
        }
    }

    /// Writes a line for people, on the standard error.
    static func note(_ text: String) {
        let line = text + "\n"
        _ = write(2, line, line.utf8.count)
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        note("MigrationProofs: \(message)")
        exit(status)
    }
}

/// The command line says something that is not understood.
struct WrongUsage: Error {
    let message: String
}
