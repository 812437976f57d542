import FaultlineDisk
import FaultlineTestSupport

/// Runs proofs of migrations, and measurements that need model classes, and prints one JSON line for each.
///
/// The program is separate from `FaultlineProofs`, which is built without the macros.
@main
struct MigrationProofs {
    static let usage = """
        usage: MigrationProofs crash --states COUNT | --seeds COUNT | --seed ONE [--images COUNT]
                                                                 power cuts in migrations
               MigrationProofs faults --seeds COUNT | --seed ONE [--every CALLS]   failing disks in migrations
               MigrationProofs prepare DIRECTORY ROWS BYTES      a store of the old version
               MigrationProofs migrate DIRECTORY ROWS CEILING [policy] [held]
                                                                 its migration, streamed or by a policy; the ceiling in MiB;
                                                                 held: by a process that has the old version open
               MigrationProofs online DIRECTORY ROWS SAVES       how long saves wait for an online migration; SAVES in a second
               MigrationProofs custom SHAPE COUNT CEILING        memory of a custom stage that saves once; the ceiling in MiB
               MigrationProofs large MEBIBYTES CEILING [--canary]   a store of that size by two kinds of stages; both in MiB
               MigrationProofs peaks                             peaks of memory of migrations of different sizes
               MigrationProofs matrix FOLDER COMMIT [--smallest] [--shape NAME] [--kind NAME] [--fresh] [--table]
                                      [--document FILE] [--lines FILE]
                                                                 peaks of all kinds of stages, shapes and sizes; --table:
                                                                 of the cells on record; --fresh: measured again
               MigrationProofs graph --seeds COUNT | --seed ONE | --canary | --check FILE   random operations on objects
               MigrationProofs cache DIRECTORY ROWS BUDGET       reads all rows twice; the budget in MiB
        """

    /// Proofs that open thousands of small stores in one process; the others measure memory, or start processes.
    private static let proofsOfManyStores: Set = ["crash", "faults", "graph"]

    static func main() {
        ProofShell.run("MigrationProofs", usage: usage) { command, arguments in
            if proofsOfManyStores.contains(command) { BufferMemory.keepPages(upTo: 64 << 20) }
            return switch command {
            case "crash": try MigrationCrashProof(arguments).run()
            case "faults": try MigrationFaultProof(arguments).run()
            case "prepare": try MemoryProof(arguments).prepare()
            case "migrate": try MemoryProof(arguments).migrate()
            case "online": try OnlineMeasurement(arguments).run()
            case "custom": try CustomStageMeasurement(arguments).run()
            case "large": try LargeMigrationProof(arguments).run()
            case "peaks": try MigrationPeaksProof(arguments).run()
            case "matrix": try MatrixProof(arguments).run()
            case "matrix-prepare": try MatrixChild.prepare(arguments)
            case "matrix-cell": try MatrixChild.migrate(arguments)
            case "graph": try GraphProof(arguments).run()
            case "cache": try MemoryProof(arguments).fillCache()
            default: nil
            }
        }
    }
}
