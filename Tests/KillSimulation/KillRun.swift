import CrashSimulation
import Dispatch
import FaultlineTestSupport
import Glibc
import Synchronization

/// Kills a process that writes, many times, on all cores.
package struct KillRun: Sendable {
    private let seed: UInt64
    private let roundCount: Int
    private let canary: Bool

    /// - Parameters:
    ///   - seed: Decides what is written, and about when a kill comes.
    ///   - roundCount: Kills.
    ///   - canary: Whether transactions are acknowledged before anything of them is written: must be noticed.
    package init(seed: UInt64, roundCount: Int, canary: Bool) {
        self.seed = seed
        self.roundCount = roundCount
        self.canary = canary
    }

    /// Stops a lane at its first violation; its store is kept, and named.
    package func run() -> KillReport {
        let laneCount = max(1, min(roundCount, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        let total = Mutex(KillReport())
        DispatchQueue.concurrentPerform(iterations: laneCount) { number in
            let report = runLane(number, roundCount: (roundCount + number) / laneCount)
            total.withLock { $0.add(report) }
        }
        return total.withLock { $0 }
    }

    private func runLane(_ number: Int, roundCount: Int) -> KillReport {
        // In memory where the system has that: there more is under way when a kill comes. Every other lane on a disk.
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
