import FaultlineDisk
import FaultlineLog
import Glibc

/// What an error must be that a fault has caused: typed, with the file, the system's error, and the code and the remedy
/// that belong to it.
struct FaultErrorCheck {
    let storePath: String
    /// What the failing calls report; nil if the fault must not be noticed.
    let errorNumber: Int32?

    /// What is wrong with an error; nil if nothing is.
    func objection(to error: any Error) -> String? {
        guard let error = error as? LogError else { return "the error is not typed: \(error)" }
        guard let errorNumber else { return "what must be resumed gave an error: \(error)" }
        // The directory that the store is in counts too.
        guard let path = error.path, !path.isEmpty, path.hasPrefix(storePath) || storePath.hasPrefix(path) else {
            return "the error names no file: \(error)"
        }
        guard let cause = error.cause else { return "the error does not say what the system said: \(error)" }
        guard cause.errorNumber == errorNumber, cause.code == Self.code(of: errorNumber) else {
            return "the system said errno \(errorNumber), the error says \(cause.code), \(cause.errorNumber)"
        }
        let isAboutSpace = errorNumber == ENOSPC || errorNumber == EDQUOT
        switch error.code {
        case .fullDisk where isAboutSpace, .failedDisk where !isAboutSpace, .outcomeUnknown, .poisoned: break
        default: return "the error has the code \(error.code): \(error)"
        }
        let remedy = isAboutSpace ? "Make room" : "Check the disk"
        return error.message.contains(remedy) ? nil : "the error does not say what to do: \(error)"
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
