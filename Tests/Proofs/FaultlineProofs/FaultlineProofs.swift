import FaultlineDisk
import FaultlineTestSupport

/// Runs proofs that are too long for the test suite, or that need a separate process: one JSON line each.
@main
struct FaultlineProofs {
    static let usage = """
        usage: FaultlineProofs crash [--from FIRST] --seeds COUNT | --seed ONE [--images COUNT] [--items COUNT] [--nested COUNT] | --canary
               FaultlineProofs bitflips [--sectors] [--every ODD]    every bit of the reference stores, or fewer
               FaultlineProofs bitflips --canary                     some of them with each rule broken
               FaultlineProofs bitflips flips|sectors STORE NUMBER   one damage again
               FaultlineProofs faults --seeds COUNT | --seed ONE [--every ODD] | --canary
               FaultlineProofs faults disk|system LEG SEED NUMBER    one fault again
               FaultlineProofs kill --rounds COUNT [--seed ONE] [--canary]
               FaultlineProofs backup --rounds COUNT [--seed ONE] [--canary]
               FaultlineProofs backup --measure DIRECTORY MIB [RATE]   waits of commits beside backups, and memory
               FaultlineProofs model --seeds COUNT | --seed ONE | --canary
               FaultlineProofs model --seed ONE --keep NUMBERS   some operations of one life again
               FaultlineProofs interleavings [--every COUNT | --canary]   every order of two jobs' steps, or one of some
               FaultlineProofs interleavings one NUMBER          one order again
               FaultlineProofs full-disk NAME DIRECTORY CYCLES [FIRST] | --canary   on a small file system
        """

    /// Proofs that open thousands of small stores in one process; the others measure memory, or start processes.
    private static let proofsOfManyStores: Set = ["crash", "bitflips", "faults", "model", "interleavings"]

    static func main() {
        ProofShell.run("FaultlineProofs", usage: usage) { command, arguments in
            if proofsOfManyStores.contains(command) { BufferMemory.keepPages(upTo: 64 << 20) }
            return switch command {
            case "crash": try CrashProof(arguments).run()
            case "bitflips": try BitFlipProof(arguments).run()
            case "faults": try FaultProof(arguments).run()
            case "kill": try KillProof(arguments).run()
            case "backup": try BackupProof(arguments).run()
            case "model": try ModelProof(arguments).run()
            case "interleavings": try InterleavingProof(arguments).run()
            case "full-disk": try FullDiskProof(arguments).run()
            default: nil
            }
        }
    }
}
