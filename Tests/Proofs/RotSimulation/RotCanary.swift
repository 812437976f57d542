import FaultlineTestSupport
import Glibc

/// A deliberate error that the bit flips must detect.
package enum RotCanary: String, CaseIterable, Sendable {
    /// Checksums match any damage.
    case fitsChecksums
    /// The findings of verification are not reported.
    case hidesFindings
    /// The process dies because of a damaged manifest.
    case dies

    /// Repairs the checksums of a damaged file, if the canary requires it.
    func repair(_ path: String, on disk: SimulatedDisk) {
        guard self == .fitsChecksums, let damaged = disk.bytes(of: path) else { return }
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let repaired = ChecksumRepair.repaired(damaged, name: name)
        for place in damaged.indices where damaged[place] != repaired[place] {
            disk.corrupt(path, at: place) { _ in repaired[place] }
        }
    }

    /// Ends the process, if the canary requires it.
    func die(of path: String) {
        // A trap would print a report each time, which would hide the output of the proof.
        if self == .dies, path.contains("/m-") { kill(getpid(), SIGKILL) }
    }
}
