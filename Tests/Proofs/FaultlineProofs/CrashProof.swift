import CrashSimulation
import Dispatch
import FaultlineDisk
import FaultlineTestSupport
import Synchronization

/// Power cuts between any two operations of the disk: in commits, checkpoints, compaction, recovery.
///
/// As a canary, the same with one synchronizing place after another left out: each omission must be detected.
struct CrashProof {
    private var seeds: Range<UInt64> = 1..<101
    private var plan = CrashPlan()
    private var isCanary = false
    /// The only place that the canary leaves out; nil for one after another.
    private var site: SyncSite?

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--canary":
                isCanary = true
            case "--site":
                guard let name = rest.popFirst() else { throw WrongUsage(message: "--site needs a name") }
                site = SyncSite(rawValue: name)
            case "--seeds", "--seed":
                guard let text = rest.popFirst(), let number = UInt64(text), number > 0, number < 1 << 40 else {
                    throw WrongUsage(message: "\(word) needs a number above 0")
                }
                seeds = word == "--seed" ? number..<number + 1 : seeds.lowerBound..<seeds.lowerBound + number
            case "--from":
                let first = UInt64(try Self.number(rest.popFirst(), word, 1...1 << 40))
                seeds = first..<first + UInt64(seeds.count)
            case "--images":
                plan.imageCountMax = try Self.number(rest.popFirst(), word, 1...1 << 20)
            case "--items":
                plan.itemCountMax = try Self.number(rest.popFirst(), word, 0...20)
                plan.combinationCountMax = 1 << 24
            case "--nested":
                plan.nestedEvery = try Self.number(rest.popFirst(), word, 1...1 << 20)
            default:
                throw WrongUsage(message: "unknown argument \(word)")
            }
        }
    }

    private static func number(_ text: String?, _ word: String, _ range: ClosedRange<Int>) throws -> Int {
        guard let number = text.flatMap({ Int($0) }), range.contains(number) else {
            throw WrongUsage(message: "\(word) needs a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func run() throws -> Int32 { isCanary ? try leaveOut() : cut() }

    private func cut() -> Int32 {
        let all = Guarded(CrashReport())
        let (seeds, plan) = (seeds, plan)
        let start = ContinuousClock.now
        DispatchQueue.concurrentPerform(iterations: seeds.count) { place in
            let seed = seeds.lowerBound + UInt64(place)
            let report = runCrash(seeds: seed..<seed + 1, plan: plan)
            all.withLock { $0.add(report) }
        }
        let report = all.withLock { $0 }
        report.violations.prefix(3).forEach(ProofShell.note)
        print(
            """
            {"crash_states":\(report.stateCount),"recoveries":\(report.nestedStateCount),\
            "violations":\(report.violations.count),"seeds":\(report.seedCount),"gaps":\(report.gapCount),\
            "images":\(plan.imageCountMax),"items":\(plan.itemCountMax),"exhaustive_gaps":\(report.exhaustiveGapCount),\
            "torn_states":\(report.tornStateCount),"past_states":\(report.pastCount),"seconds":\((ContinuousClock.now - start).components.seconds)}
            """)
        return report.violations.isEmpty ? 0 : 1
    }

    /// Leaves out one site after another; prints for each what detected it.
    private func leaveOut() throws -> Int32 {
        let reach = try CrashCanary.reach(of: seeds.lowerBound..<seeds.lowerBound + 12)
        let reached = reach.values.reduce(into: Set(crashSites)) { $0.formUnion($1) }.subtracting([.unnamed])
        let sites = reached.filter { site == nil || $0 == site }.sorted { $0.rawValue < $1.rawValue }
        // A place may be used by few seeds only: continue until its omission shows, up to a limit.
        let limit = max(seeds.upperBound, 60)
        let all = Guarded((report: CrashReport(), caught: 0))
        DispatchQueue.concurrentPerform(iterations: sites.count) { place in
            var canary = CrashCanary(leavingOut: sites[place])
            canary.run(seeds: seeds.lowerBound..<limit, reach: reach)
            let (report, seed, stateCount) = (canary.report, canary.seed, canary.stateCount)
            all.withLock {
                $0.report.add(report)
                if seed != nil { $0.caught += 1 }
            }
            if let seed {
                let what = report.violations.first?.suffix(160) ?? ""
                ProofShell.note("\(sites[place]): caught by state \(stateCount) of seed \(seed): …\(what)")
            } else {
                ProofShell.note("\(sites[place]): left out and not missed in \(report.stateCount) states")
            }
        }
        let (report, caught) = all.withLock { $0 }
        print(
            """
            {"crash_states":\(report.stateCount),"recoveries":\(report.nestedStateCount),\
            "violations":\(report.violations.count),"canaries":\(sites.count),"caught":\(caught)}
            """)
        return caught == sites.count ? 0 : 1
    }
}
