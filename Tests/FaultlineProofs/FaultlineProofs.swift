import Glibc

/// Runs proofs that are too long for the test suite, or that need a process of their own: one JSON line each.
@main
struct FaultlineProofs {
    static let usage = """
        usage: FaultlineProofs crash --seeds COUNT | --seed ONE [--canary]
               FaultlineProofs bitflips [--sectors] [--every ODD]    every bit of the reference stores, or fewer
               FaultlineProofs bitflips flips|sectors STORE NUMBER   one damage again
               FaultlineProofs faults --seeds COUNT | --seed ONE | --canary
               FaultlineProofs faults disk|system LEG SEED NUMBER    one fault again
               FaultlineProofs kill --rounds COUNT [--seed ONE] [--canary]
               FaultlineProofs model --seeds COUNT | --seed ONE | --canary
               FaultlineProofs model --seed ONE --keep NUMBERS   some operations of one life again
               FaultlineProofs interleavings [--canary]          every order of two jobs' steps
               FaultlineProofs interleavings one NUMBER          one order again
               FaultlineProofs full-disk NAME DIRECTORY CYCLES [FIRST]   on a small file system
        """

    static func main() {
        var arguments = Array(CommandLine.arguments.dropFirst())
        guard let command = arguments.first else { fail(usage, status: 2) }
        arguments.removeFirst()
        do {
            switch command {
            case "crash": try exit(CrashProof(arguments).run())
            case "bitflips": try exit(BitFlipProof(arguments).run())
            case "faults": try exit(FaultProof(arguments).run())
            case "kill": try exit(KillProof(arguments).run())
            case "model": try exit(ModelProof(arguments).run())
            case "interleavings": try exit(InterleavingProof(arguments).run())
            case "full-disk": try exit(FullDiskProof(arguments).run())
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
        note("FaultlineProofs: \(message)")
        exit(status)
    }
}

/// The command line says something that is not understood.
struct WrongUsage: Error {
    let message: String
}
