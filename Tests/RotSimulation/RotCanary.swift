import FaultlineTestSupport
import Glibc

/// A rule that is broken on purpose: the flips must show each.
package enum RotCanary: String, CaseIterable, Sendable {
    /// Checksums fit whatever is damaged.
    case fitsChecksums
    /// What verification finds is not told.
    case hidesFindings
    /// The process dies of a damaged manifest.
    case dies

    /// Makes the checksums of a damaged file fit, where that is the rule.
    func repair(_ path: String, on disk: SimulatedDisk) {
        guard self == .fitsChecksums, let damaged = disk.bytes(of: path) else { return }
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let repaired = ChecksumRepair.repaired(damaged, name: name)
        for place in damaged.indices where damaged[place] != repaired[place] {
            disk.corrupt(path, at: place) { _ in repaired[place] }
        }
    }

    /// Ends the process, where that is the rule.
    func die(of path: String) {
        // Not by a trap: the report that the runtime prints of each would hide what the proof says.
        if self == .dies, path.contains("/m-") { kill(getpid(), SIGKILL) }
    }
}
