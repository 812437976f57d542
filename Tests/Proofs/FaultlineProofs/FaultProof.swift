import Dispatch
import FaultSimulation
import FaultlineTestSupport
import Foundation
import Synchronization

/// Injects every error into every call of the disk and every system call of small workloads, once and from then on.
struct FaultProof {
    /// The results of faults.
    struct Counts: TrialCounts {
        var injected = 0
        var violations = 0
        /// The operations during errors, by their messages.
        var doing: Set<String> = []

        mutating func add(_ other: Counts) {
            injected += other.injected
            violations += other.violations
            doing.formUnion(other.doing)
        }
    }

    private enum Work {
        /// One of so many faults.
        case sweep(seeds: Range<UInt64>, every: Int, reachesAll: Bool)
        case canaries
        case replay(FaultLeg, FaultPlace, seed: UInt64, number: Int)
        case trials(FaultLeg, FaultPlace, seed: UInt64, Range<Int>, every: Int)
    }

    private let work: Work

    init(_ arguments: [String]) throws {
        switch (arguments.first, arguments.count) {
        case ("--canary", 1): work = .canaries
        case ("--seeds", 2):
            // The first seed reaches every place: it prepares space behind commits.
            work = .sweep(seeds: 1..<1 + (try Self.number(arguments[1])), every: 1, reachesAll: true)
        case ("--seed", 2):
            let seed = try Self.number(arguments[1])
            work = .sweep(seeds: seed..<seed + 1, every: 1, reachesAll: false)
        case ("--seed", 4) where arguments[2] == "--every":
            let (seed, every) = (try Self.number(arguments[1]), try Self.stride(arguments[3]))
            work = .sweep(seeds: seed..<seed + 1, every: every, reachesAll: false)
        case (_, 4), (_, 6):
            guard let place = FaultPlace(rawValue: arguments[0]),
                let leg = FaultLeg.all.first(where: { $0.name == arguments[1] })
            else {
                let legs = FaultLeg.all.map(\.name).joined(separator: ", ")
                throw WrongUsage(message: "places are disk and system; legs are \(legs)")
            }
            let seed = try Self.number(arguments[2])
            if arguments.count == 4 {
                work = .replay(leg, place, seed: seed, number: Int(try Self.number(arguments[3])))
            } else {
                let every = try Self.stride(arguments[3])
                let (first, end) = (Int(try Self.number(arguments[4])), Int(try Self.number(arguments[5])))
                guard first <= end else { throw WrongUsage(message: "a range of faults does not end before it begins") }
                work = .trials(leg, place, seed: seed, first..<end, every: every)
            }
        default: throw WrongUsage(message: "faults takes no such arguments")
        }
    }

    private static func number(_ text: String) throws -> UInt64 {
        guard let number = UInt64(text), number < 1 << 40 else { throw WrongUsage(message: "\(text) is no number") }
        return number
    }

    /// An odd number, so that one of each kind of error is chosen.
    private static func stride(_ text: String) throws -> Int {
        let number = try number(text)
        guard number.isMultiple(of: 2) == false else { throw WrongUsage(message: "--every needs an odd number") }
        return Int(number)
    }

    func run() throws -> Int32 {
        switch work {
        case .sweep(let seeds, let every, let reachesAll): return try sweep(seeds, every, reachesAll: reachesAll)
        case .canaries: return try FaultCanaryProof().run()
        case .replay(let leg, let place, let seed, let number):
            let trials = try FaultTrials(leg, in: place, seed: seed)
            guard number < trials.count else { throw WrongUsage(message: "there are \(trials.count) faults") }
            let outcome = trials.outcome(of: number)
            print("\(place) \(leg.name) \(seed) \(number): \(trials.describe(number)): \(outcome)")
            if case .violated = outcome { return 1 }
            return 0
        case .trials(let leg, let place, let seed, let range, let every):
            let name = "\(place) '\(leg.name)' \(seed)"
            try runTrials(FaultTrials(leg, in: place, seed: seed), range, every, name: name)
            return 0
        }
    }

    /// Injects all faults of some seeds, or one of so many; with `reachesAll` each place of the log that calls the disk must be reached.
    private func sweep(_ seeds: Range<UInt64>, _ every: Int, reachesAll: Bool) throws -> Int32 {
        let start = ContinuousClock.now
        var parts: [TrialSweep<Counts>.Part] = []
        for seed in seeds {
            for leg in FaultLeg.all {
                for place in FaultPlace.allCases {
                    let count = try FaultTrials(leg, in: place, seed: seed).count
                    let command = ["faults", place.rawValue, leg.name, "\(seed)", "\(every)"]
                    for first in Swift.stride(from: 0, to: count, by: 2_000) {
                        parts.append((command, first..<min(first + 2_000, count)))
                    }
                }
            }
        }
        let (counts, crashed) = try TrialSweep<Counts>.run(parts) { command, number in
            "\(command[1]) '\(command[2])' \(command[3]) \(number)"
        }
        let places = FailurePlaces()
        // A listed place that was reached is wrong too.
        let missing = places.all.subtracting(counts.doing)
            .symmetricDifference(places.all.intersection(FailurePlaces.unreachable.keys))
        for (place, reason) in FailurePlaces.unreachable {
            ProofShell.note("cannot be reached: \(place): \(reason)")
        }
        for place in missing.sorted() { ProofShell.note("not reached, or listed wrongly: \(place)") }
        print(
            """
            {"injected":\(counts.injected),"violations":\(counts.violations + crashed),"crashed":\(crashed),\
            "workloads":\(seeds.count * FaultLeg.all.count),"throws_reached":\(places.all.intersection(counts.doing).count),\
            "throws_total":\(places.all.count),"throws_unreachable":\(FailurePlaces.unreachable.count),\
            "seconds":\((ContinuousClock.now - start).components.seconds)}
            """)
        return counts.violations == 0 && crashed == 0 && (missing.isEmpty || !reachesAll) ? 0 : 1
    }

    /// Tries one of so many faults of a range of one leg's.
    private func runTrials(_ trials: FaultTrials, _ range: Range<Int>, _ every: Int, name: String) throws {
        var told = 0
        try TrialSweep<Counts>.runTrials(range) { number, counts in
            // If threads race, another run may have made fewer calls.
            guard number.isMultiple(of: every), number < trials.count else { return }
            switch trials.outcome(of: number) {
            case .notMet: break
            case .kept(let doing):
                counts.injected += 1
                counts.doing.formUnion(doing)
            case .violated(let what):
                counts.injected += 1
                counts.violations += 1
                told += 1
                if told <= 3 { ProofShell.note("\(name) \(number): \(trials.describe(number)): \(what)") }
            }
        }
    }
}
