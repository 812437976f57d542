import FaultlineTestSupport
import RotSimulation

/// Flips every bit of the reference stores, one at a time, and reads everything back after each; on request, also with
/// sectors zeroed, swapped, from earlier, and of other files.
struct BitFlipProof {
    /// The results of damages.
    private struct Counts: TrialCounts {
        var flips = 0
        var sectors = 0
        var detected = 0
        var harmless = 0
        var wrong = 0

        mutating func add(_ other: Counts) {
            flips += other.flips
            sectors += other.sectors
            detected += other.detected
            harmless += other.harmless
            wrong += other.wrong
        }
    }

    private enum Kind: String {
        case flips, sectors
    }

    /// One bit of this many shows a broken rule.
    private static let canaryStride = 4_001

    private let arguments: [String]

    init(_ arguments: [String]) { self.arguments = arguments }

    func run() throws -> Int32 {
        // `--sectors`: sectors too. `--every N`: every N-th flip. `--canary`: some flips with each rule broken. A kind,
        // a store and a number: that damage; with an end, a range of them, or of every N-th, optionally with a rule
        // broken.
        switch arguments.count {
        case 1 where arguments == ["--canary"]: return try catchCanaries()
        case 0...3 where arguments.allSatisfy({ $0.hasPrefix("--") || Int($0) != nil }): return try runAll()
        case 3:
            let (kind, store, number) = try (Self.kind(arguments[0]), Self.store(arguments[1]), number(2))
            return try replay(Self.damage(kind, number, of: store), of: store)
        case 5, 6:
            let (kind, store) = try (Self.kind(arguments[0]), Self.store(arguments[1]))
            let (stride, first, end) = try (number(2), number(3), number(4))
            guard first <= end else { throw WrongUsage(message: "a range of damages does not end before it begins") }
            let canary = arguments.count == 6 ? RotCanary(rawValue: arguments[5]) : nil
            try runRange(kind, store, first..<end, every: stride, canary)
            return 0
        default: throw WrongUsage(message: "bitflips takes no such arguments")
        }
    }

    private func runAll() throws -> Int32 {
        var rest = arguments[...]
        var withSectors = false
        var stride = 1
        while let word = rest.popFirst() {
            switch word {
            case "--sectors": withSectors = true
            case "--every":
                // Odd, so that it reaches bits at all positions of a byte.
                guard let number = rest.popFirst().flatMap({ Int($0) }), number > 0, number % 2 == 1 else {
                    throw WrongUsage(message: "--every needs an odd number")
                }
                stride = number
            default: throw WrongUsage(message: "bitflips takes no such arguments")
            }
        }
        return try runAll(withSectors: withSectors, every: stride)
    }

    private func runAll(withSectors: Bool, every stride: Int) throws -> Int32 {
        let start = ContinuousClock.now
        let stores = try RotStore.all()
        let (counts, crashed) = try sweep(stores, withSectors: withSectors, every: stride)
        print(
            """
            {"flips":\(counts.flips),"detected":\(counts.detected),"harmless":\(counts.harmless),\
            "wrong":\(counts.wrong),"crashed":\(crashed),"stores":\(stores.count),"sectors":\(counts.sectors),\
            "seconds":\((ContinuousClock.now - start).components.seconds)}
            """)
        return counts.wrong == 0 && crashed == 0 ? 0 : 1
    }

    /// Breaks one rule after another; each must be detected.
    private func catchCanaries() throws -> Int32 {
        let stores = try RotStore.all()
        var total = Counts()
        var (crashedCount, caught) = (0, 0)
        for canary in RotCanary.allCases {
            let (counts, crashed) = try sweep(stores, withSectors: false, every: Self.canaryStride, canary)
            total.add(counts)
            crashedCount += crashed
            // A process that dies reports nothing wrong, and one that reports something wrong does not die.
            let isCaught = canary == .dies ? crashed > 0 && counts.wrong == 0 : counts.wrong > 0 && crashed == 0
            if isCaught { caught += 1 }
            let verdict = isCaught ? "caught" : "not caught"
            ProofShell.note("\(canary): \(verdict), \(counts.wrong) wrong, \(crashed) crashed")
        }
        print(
            """
            {"flips":\(total.flips),"wrong":\(total.wrong),"crashed":\(crashedCount),\
            "canaries":\(RotCanary.allCases.count),"caught":\(caught)}
            """)
        return caught == RotCanary.allCases.count ? 0 : 1
    }

    private func sweep(
        _ stores: [RotStore], withSectors: Bool, every stride: Int, _ canary: RotCanary? = nil
    ) throws -> (counts: Counts, crashed: Int) {
        var parts: [TrialSweep<Counts>.Part] = []
        for store in stores {
            var kinds = [(Kind.flips, stride, (store.bitCount + stride - 1) / stride)]
            if withSectors { kinds.append((.sectors, 1, store.sectorDamages().count)) }
            for (kind, stride, count) in kinds {
                let step = 1 + count / 16
                for first in Swift.stride(from: 0, to: count, by: step) {
                    let command = ["bitflips", kind.rawValue, store.name, "\(stride)"]
                    parts.append((command, first..<min(first + step, count)))
                }
            }
        }
        return try TrialSweep<Counts>.run(parts, behind: canary.map { [$0.rawValue] } ?? []) { command, number in
            "\(command[1]) \(command[2]) \(number * (Int(command[3]) ?? 1))"
        }
    }

    /// Tries a range of one store's damages, or of every N-th.
    private func runRange(
        _ kind: Kind, _ store: RotStore, _ range: Range<Int>, every stride: Int, _ canary: RotCanary?
    ) throws {
        let damages = kind == .sectors ? store.sectorDamages() : []
        let count = kind == .sectors ? damages.count : store.bitCount
        guard stride > 0, stride <= count, range.upperBound <= (count + stride - 1) / stride else {
            throw WrongUsage(message: "there is no such range of damages")
        }
        var told = 0
        try TrialSweep<Counts>.runTrials(range) { place, counts in
            let number = place * stride
            let damage = kind == .sectors ? damages[number] : store.flip(number)
            guard let outcome = store.outcome(of: damage, canary: canary) else { return }
            if kind == .sectors { counts.sectors += 1 } else { counts.flips += 1 }
            switch outcome {
            case .detected: counts.detected += 1
            case .harmless: counts.harmless += 1
            case .wrong(let what):
                counts.wrong += 1
                told += 1
                if told <= 3, canary == nil {
                    ProofShell.note("\(kind) \(store.name) \(number): \(damage): \(what)")
                }
            }
        }
    }

    /// Prints the result of one damage.
    private func replay(_ damage: RotDamage, of store: RotStore) throws -> Int32 {
        let outcome = store.outcome(of: damage)
        print("\(store.name), \(damage): \(outcome.map { "\($0)" } ?? "changes nothing")")
        if case .wrong = outcome { return 1 }
        return 0
    }

    private static func kind(_ text: String) throws -> Kind {
        guard let kind = Kind(rawValue: text) else { throw WrongUsage(message: "damages are flips or sectors") }
        return kind
    }

    private static func store(_ name: String) throws -> RotStore {
        guard let store = try RotStore.all().first(where: { $0.name == name }) else {
            throw WrongUsage(message: "there is no reference store \(name)")
        }
        return store
    }

    private static func damage(_ kind: Kind, _ number: Int, of store: RotStore) throws -> RotDamage {
        let damages = kind == .sectors ? store.sectorDamages() : []
        guard number < (kind == .sectors ? damages.count : store.bitCount) else {
            throw WrongUsage(message: "the store \(store.name) has no damage \(number)")
        }
        return kind == .sectors ? damages[number] : store.flip(number)
    }

    private func number(_ place: Int) throws -> Int {
        guard let number = Int(arguments[place]), number >= 0 else {
            throw WrongUsage(message: "\(arguments[place]) is not a number of a damage")
        }
        return number
    }
}
