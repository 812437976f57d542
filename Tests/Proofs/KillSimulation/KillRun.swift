import CrashSimulation
import Dispatch
import FaultlineDisk
import FaultlineTestSupport
import Glibc
import Synchronization

/// Kills a writing process many times, on all cores.
package struct KillRun: Sendable {
    private let seed: UInt64
    private let roundCount: Int
    private let canary: Bool

    /// - Parameters:
    ///   - seed: Decides the contents of the store, and approximately when the kills come.
    ///   - roundCount: The number of kills.
    ///   - canary: Whether transactions are acknowledged before anything is written, which must be detected.
    package init(seed: UInt64, roundCount: Int, canary: Bool) {
        self.seed = seed
        self.roundCount = roundCount
        self.canary = canary
    }

    /// Runs all lanes.
    ///
    /// A lane stops at its first violation, keeps its store and reports where it is.
    package func run() -> KillReport {
        let laneCount = max(1, min(roundCount, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        let total = Guarded(KillReport())
        DispatchQueue.concurrentPerform(iterations: laneCount) { number in
            let report = runLane(number, roundCount: (roundCount + number) / laneCount)
            total.withLock { $0.add(report) }
        }
        return total.withLock { $0 }
    }

    private func runLane(_ number: Int, roundCount: Int) -> KillReport {
        // Every other lane uses memory, if the system has such a file system: the process gets more done before a kill.
        // The others use a disk.
        let directory = TemporaryDirectory(in: number % 2 == 1 || access("/dev/shm", W_OK) != 0 ? "/tmp" : "/dev/shm")
        var lane = KillLane(in: directory.path, Seed(seed &+ UInt64(number) << 40), canary: canary)
        var violation: String?
        for round in 0..<roundCount {
            do {
                try lane.runRound()
            } catch {
                violation = "kill \(round + 1) of lane \(number): \(error)"
                break
            }
        }
        var report = lane.report
        if let violation {
            let kept = directory.path + "-kept"
            let isKept = !canary && rename(directory.path, kept) == 0
            report.violations.append(violation + (isKept ? " (its stores are kept in \(kept))" : ""))
        }
        return report
    }
}
