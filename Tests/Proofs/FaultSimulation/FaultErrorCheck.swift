import FaultlineDisk
import FaultlineLog
import Glibc

/// The requirements for an error that a fault causes: typed, with the file, the system's error, and the right code and
/// remedy.
struct FaultErrorCheck {
    let storePath: String
    /// The error of the failing calls; nil if the store must not report the fault.
    let errorNumber: Int32?

    /// The first violation; nil if there is none.
    func objection(to error: any Error) -> String? {
        guard let error = error as? LogError else { return "the error is not typed: \(error)" }
        guard let errorNumber else { return "a call that the disk must resume gave an error: \(error)" }
        // The directory that contains the store counts too.
        guard let path = error.path, !path.isEmpty, path.hasPrefix(storePath) || storePath.hasPrefix(path) else {
            return "the error names no file: \(error)"
        }
        guard let cause = error.cause else { return "the error lacks the error of the system: \(error)" }
        guard cause.errorNumber == errorNumber, cause.code == Self.code(of: errorNumber) else {
            return "the system said errno \(errorNumber), the error says \(cause.code), \(cause.errorNumber)"
        }
        let isAboutSpace = errorNumber == ENOSPC || errorNumber == EDQUOT
        switch error.code {
        case .fullDisk where isAboutSpace, .failedDisk where !isAboutSpace, .outcomeUnknown, .poisoned: break
        default: return "the error has the code \(error.code): \(error)"
        }
        let remedy = errorNumber == EMFILE ? "ulimit -n" : isAboutSpace ? "Make room" : "Check the disk"
        return error.message.contains(remedy) ? nil : "the error lacks a remedy: \(error)"
    }

    private static func code(of errorNumber: Int32) -> DiskError.Code {
        switch errorNumber {
        case ENOSPC: .noSpace
        case EDQUOT: .quotaExceeded
        case EMFILE: .tooManyOpenFiles
        default: .ioFailure
        }
    }
}
