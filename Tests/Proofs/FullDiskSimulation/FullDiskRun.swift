import CrashSimulation
import FaultlineDisk
import FaultlineTestSupport

/// Fills a file system again and again.
package struct FullDiskRun {
    private let directory: String
    private let cycles: Range<UInt64>
    private let canary: FullDiskCanary?

    /// - Parameters:
    ///
    ///   - directory: An empty directory of a small file system, which has no other user.
    ///   - cycles: The numbers of the cycles, which determine everything.
    ///   - canary: A rule to be broken.
    package init(in directory: String, cycles: Range<UInt64>, canary: FullDiskCanary? = nil) {
        self.directory = directory
        self.cycles = cycles
        self.canary = canary
    }

    /// Runs cycle after cycle, each with a new store.
    package func run() -> FullDiskReport {
        var report = FullDiskReport()
        for number in cycles {
            let folder = "\(directory)/cycle-\(number)"
            do {
                try PosixDisk().createDirectory(folder)
                var cycle = try FullDiskCycle(in: folder, Seed(number), canary)
                defer { report.add(cycle.report) }
                try cycle.run()
            } catch {
                report.violations.append("cycle \(number): \(error)")
            }
            TemporaryDirectory.remove(folder)
        }
        return report
    }
}

extension FullDiskReport {
    fileprivate mutating func add(_ other: FullDiskReport) {
        cycleCount += other.cycleCount
        commitCount += other.commitCount
        refusalCount += other.refusalCount
        deleteCount += other.deleteCount
        refusedOpeningCount += other.refusedOpeningCount
        compactedByteCount += other.compactedByteCount
    }
}
