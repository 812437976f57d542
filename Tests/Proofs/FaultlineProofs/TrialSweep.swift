import Dispatch
import FaultlineDisk
import FaultlineTestSupport
import Foundation
import Synchronization

/// Numbered trials, tried in separate processes on all cores, so that a trial that traps or hangs is counted and named
/// and the others continue.
///
/// A process gets a command and a range of numbers. It reports the results of each block of trials; if it dies inside a
/// block, each remaining trial of that block gets its own process.
struct TrialSweep<Counts: TrialCounts> {
    /// A range of trials for one process.
    typealias Part = (command: [String], range: Range<Int>)

    /// The number of trials between two lines of a process.
    private static var blockCount: Int { 256 }
    /// Seconds after which a block counts as hanging.
    private static var blockSecondCountMax: UInt32 { 120 }
    /// The number of failed trials that are named.
    private static var namedCountMax: Int { 20 }

    /// Tries all parts.
    ///
    /// - Parameters:
    ///   - parts: The work; longer parts first, so that no core is left with one at the end.
    ///   - words: The words behind the range on every command line.
    ///   - name: Names a trial for people, by its part's command and its number.
    /// - Returns: The results of all trials, and the number of failed ones.
    /// - Throws: Errors of starting processes.
    static func run(
        _ parts: [Part], behind words: [String] = [], name: @escaping @Sendable ([String], Int) -> String
    ) throws -> (counts: Counts, crashed: Int) {
        let total = Guarded((counts: Counts(), crashed: 0, failure: (any Error)?.none))
        let work = parts
        DispatchQueue.concurrentPerform(iterations: work.count) { place in
            let (command, range) = work[place]
            if total.withLock({ $0.failure != nil }) { return }
            do {
                let (counts, crashed) = try runPart(command, range, words)
                let told = total.withLock { total in
                    total.counts.add(counts)
                    defer { total.crashed += crashed.count }
                    return crashed.prefix(max(0, namedCountMax - total.crashed))
                }
                for number in told { ProofShell.note("\(name(command, number)): the process died") }
            } catch {
                total.withLock { $0.failure = error }
            }
        }
        return try total.withLock { total in
            if let failure = total.failure { throw failure }
            return (total.counts, total.crashed)
        }
    }

    private static func runPart(
        _ command: [String], _ range: Range<Int>, _ words: [String]
    ) throws -> (counts: Counts, crashed: [Int]) {
        var counts = Counts()
        var crashed: [Int] = []
        var next = range.lowerBound
        while next < range.upperBound {
            let (done, isWhole) = try runProcess(command, next..<range.upperBound, words, &counts)
            next += done
            if isWhole { break }
            // One of this block failed: each in its own process.
            let end = min(next + blockCount, range.upperBound)
            for number in next..<end where try !runProcess(command, number..<number + 1, words, &counts).isWhole {
                crashed.append(number)
            }
            next = end
        }
        return (counts, crashed)
    }

    /// - Returns: The number of counted trials, and whether the process reached its end.
    private static func runProcess(
        _ command: [String], _ range: Range<Int>, _ words: [String], _ counts: inout Counts
    ) throws -> (done: Int, isWhole: Bool) {
        let run = try ProofProcess(command + ["\(range.lowerBound)", "\(range.upperBound)"] + words)
        var done = 0
        for line in run.lines {
            guard let block = try? JSONDecoder().decode(Block.self, from: Data(line.utf8)) else { continue }
            counts.add(block.counts)
            done += block.trialCount
        }
        return (done, run.status == 0 && done == range.count)
    }

    private struct Block: Codable {
        var trialCount = 0
        var counts = Counts()
    }

    /// The process's side: tries a range of numbers.
    static func runTrials(_ range: Range<Int>, _ body: (_ number: Int, inout Counts) throws -> Void) throws {
        var next = range.lowerBound
        while next < range.upperBound {
            let end = min(next + blockCount, range.upperBound)
            var block = Block()
            // A trial that hangs is killed by this alarm, as if it had trapped.
            alarm(blockSecondCountMax)
            for number in next..<end {
                try body(number, &block.counts)
                block.trialCount += 1
            }
            print(String(decoding: try JSONEncoder().encode(block), as: UTF8.self))
            fflush(nil)
            next = end
        }
        alarm(0)
    }
}
