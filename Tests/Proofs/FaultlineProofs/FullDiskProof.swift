import FaultlineTestSupport
import FullDiskSimulation

/// A store on a small file system that is filled to its last byte; `.ci/full-disk` makes the file system.
struct FullDiskProof {
    private let name: String
    private let directory: String
    private let cycles: Range<UInt64>
    private let isOfCanaries: Bool

    init(_ arguments: [String]) throws {
        if arguments.count == 3, arguments[2] == "--canary" {
            (name, directory, cycles, isOfCanaries) = (arguments[0], arguments[1], 1..<5, true)
            return
        }
        guard arguments.count == 3 || arguments.count == 4, let count = UInt64(arguments[2]), count > 0,
            let first = arguments.count == 4 ? UInt64(arguments[3]) : 1, first < 1 << 40, count < 1 << 40
        else { throw WrongUsage(message: "full-disk NAME DIRECTORY CYCLES [FIRST] | --canary") }
        name = arguments[0]
        directory = arguments[1]
        cycles = first..<first + count
        isOfCanaries = false
    }

    func run() -> Int32 {
        if isOfCanaries { return catchCanaries() }
        let report = FullDiskRun(in: directory, cycles: cycles).run()
        report.violations.prefix(5).forEach(ProofShell.note)
        print(
            """
            {"file_system":"\(name)","cycles":\(report.cycleCount),"violations":\(report.violations.count),\
            "commits":\(report.commitCount),"refused":\(report.refusalCount),"deletes":\(report.deleteCount),\
            "refused_openings":\(report.refusedOpeningCount),"compacted_bytes":\(report.compactedByteCount)}
            """)
        return report.violations.isEmpty ? 0 : 1
    }

    /// Breaks one rule after another; each must be detected.
    private func catchCanaries() -> Int32 {
        var caught = 0
        for canary in FullDiskCanary.allCases {
            let report = FullDiskRun(in: directory, cycles: cycles, canary: canary).run()
            if !report.violations.isEmpty { caught += 1 }
            ProofShell.note("\(canary): \(report.violations.first ?? "not caught")")
        }
        print("{\"file_system\":\"\(name)\",\"canaries\":\(FullDiskCanary.allCases.count),\"caught\":\(caught)}")
        return caught == FullDiskCanary.allCases.count ? 0 : 1
    }
}
