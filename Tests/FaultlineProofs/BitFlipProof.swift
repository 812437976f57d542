import Dispatch
import FaultlineTestSupport
import Foundation
import RotSimulation
import Synchronization

/// Flips every bit of the reference stores, one at a time, and reads everything back after each.
///
/// Ranges of bits are tried in processes of their own, so that one that dies is counted, and the rest goes on.
struct BitFlipProof {
    /// What a range came to.
    private struct Counts: Codable {
        var flips = 0
        var detected = 0
        var harmless = 0
        var wrong = 0
        var crashed = 0

        mutating func add(_ other: Counts) {
            flips += other.flips
            detected += other.detected
            harmless += other.harmless
            wrong += other.wrong
            crashed += other.crashed
        }
    }

    private let arguments: [String]

    init(_ arguments: [String]) { self.arguments = arguments }

    func run() throws -> Int32 {
        if arguments.count == 3, let first = Int(arguments[1]), let end = Int(arguments[2]) {
            return try runRange(arguments[0], first, end)
        }
        guard arguments.isEmpty else { throw WrongUsage(message: "bitflips takes no arguments") }
        var ranges: [(store: String, first: Int, end: Int)] = []
        for store in try RotStore.all() {
            let step = 1 + store.bitCount / 8
            for first in stride(from: 0, to: store.bitCount, by: step) {
                ranges.append((store.name, first, min(first + step, store.bitCount)))
            }
        }
        let work = ranges
        let total = Mutex(Counts())
        DispatchQueue.concurrentPerform(iterations: work.count) { place in
            let (store, first, end) = work[place]
            let counts = Self.runChildren(store, first, end)
            total.withLock { $0.add(counts) }
        }
        let counts = total.withLock { $0 }
        print(
            """
            {"flips":\(counts.flips),"detected":\(counts.detected),"harmless":\(counts.harmless),\
            "wrong":\(counts.wrong),"crashed":\(counts.crashed)}
            """)
        return counts.wrong == 0 && counts.crashed == 0 ? 0 : 1
    }

    /// Tries a range of one store's bits: prints each bit's number before it is tried, then the counts.
    private func runRange(_ name: String, _ first: Int, _ end: Int) throws -> Int32 {
        guard let store = try RotStore.all().first(where: { $0.name == name }), first >= 0, end <= store.bitCount else {
            throw WrongUsage(message: "there is no such range of bits")
        }
        var counts = Counts()
        for bit in first..<max(first, end) {
            print(bit)
            fflush(nil)
            counts.flips += 1
            switch store.outcome(ofFlipping: bit) {
            case .detected: counts.detected += 1
            case .harmless: counts.harmless += 1
            case .wrong(let what):
                counts.wrong += 1
                if counts.wrong <= 3 { FaultlineProofs.note("\(name), number \(bit): \(what)") }
            }
        }
        print(String(decoding: try JSONEncoder().encode(counts), as: UTF8.self))
        return 0
    }

    /// Has a range tried; goes on behind a bit whose trial did not survive.
    private static func runChildren(_ store: String, _ first: Int, _ end: Int) -> Counts {
        var counts = Counts()
        var next = first
        while next < end {
            guard let run = try? ProofProcess(["bitflips", store, "\(next)", "\(end)"], keepsAllLines: false),
                let last = run.lines.last
            else {
                FaultlineProofs.note("\(store): the process of bits \(next) to \(end) did not start")
                counts.crashed += 1
                break
            }
            if run.status == 0, let done = try? JSONDecoder().decode(Counts.self, from: Data(last.utf8)) {
                counts.add(done)
                break
            }
            // What this process had found before is lost: those bits are counted as tried, and as detected by nobody.
            guard let bit = Int(last) else { break }
            FaultlineProofs.note("\(store), number \(bit): the process died, status \(run.status)")
            counts.flips += bit - next + 1
            counts.crashed += 1
            next = bit + 1
        }
        return counts
    }
}
