import FaultlineCommands
import FaultlineLog
import FaultlineRepair

/// A finding of `faultline doctor`, with the next step.
package struct DoctorFinding: Sendable, Equatable {
    /// The kinds of findings, for scripts.
    package enum Code: String, Sendable {
        /// Bytes differ from the written ones.
        case damage
        /// Two parts of the store contradict each other.
        case contradiction
        /// A file that is built from others did not verify.
        case derivedDamage = "derived damage"
        /// Saves are missing at the end of the store.
        case lostSaves = "lost saves"
        /// A migration was stopped.
        case migration
        /// Migrations have put objects into the quarantine.
        case quarantinedObjects = "quarantined objects"
        /// Recovery has put files into the folder `quarantine/`.
        case quarantinedFiles = "quarantined files"
        /// Segments hold more dead bytes than live ones.
        case deadSpace = "dead space"
        /// The disk is nearly full.
        case diskSpace = "disk space"
        /// The store cannot be opened.
        case unopened
    }

    package let code: Code
    /// The finding, in a sentence.
    package let message: String
    package var path: String?
    /// The place in the file, in bytes from its start.
    package var offset: UInt64?
    /// The next step, with the command to type.
    package let remedy: String

    /// The finding and the next step, in two lines.
    var text: String {
        let place = path.map { " [\($0)\(offset.map { ", offset \($0)" } ?? "")]" } ?? ""
        return "\(code.rawValue): \(message)\(place)\n  -> \(remedy)"
    }

    /// The finding as JSON.
    var line: JSONLine {
        var line = JSONLine()
        line.add("code", code.rawValue)
        line.add("message", message)
        if let path { line.add("path", path) }
        if let offset { line.add("offset", Int(clamping: offset)) }
        line.add("remedy", remedy)
        return line
    }
}

extension DoctorFinding {
    /// A finding of a check.
    init(_ finding: StoreFinding, of store: String) {
        let quoted = ShellWord.quoted(store)
        code = finding.isDerivedDamage ? .derivedDamage : finding.kind == .contradiction ? .contradiction : .damage
        message = finding.message
        path = finding.path
        offset = finding.offset
        remedy =
            finding.isDerivedDamage
            ? "\(LogError.derivedRemedy) Nothing is lost, but check the disk."
            : "`faultline verify \(quoted)` shows the extent. Restore a backup, or rescue the rest by `faultline salvage \(quoted) NEW`."
    }

    /// The reason why a store cannot be opened.
    init(unopened store: String, _ failure: CommandFailure) {
        let error = failure.cause as? LogError
        let quoted = ShellWord.quoted(store)
        path = error?.path
        offset = error?.offset
        message = error?.fault ?? failure.message
        if error?.missingTransactionCount != nil {
            code = .lostSaves
            remedy =
                "Look for the whole file, or restore a backup. Otherwise `faultline repair \(quoted) --accept-loss` continues without these saves; with --dry-run it only counts them."
            return
        }
        if failure.cause == nil {
            code = .unopened
            remedy = "Open a container for it once: that writes the schema."
            return
        }
        switch error?.code {
        case .damaged?:
            code = .damage
            remedy = "Restore a backup, or rescue everything that still verifies by `faultline salvage \(quoted) NEW`."
        case .newerFormat?:
            code = .unopened
            remedy = "Use the `faultline` of the release that wrote the store, or a newer one."
        case .notAStore?:
            code = .unopened
            remedy = "Correct the path. If files of a store are there, `faultline salvage \(quoted) NEW` rescues them."
        default:
            code = .unopened
            remedy = "Follow the message, then run `faultline doctor \(quoted)` again."
        }
    }
}
