import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Foundation
import Synchronization

/// The workload of the process to be killed.
///
/// Eight threads write, one reads, checks and requests checkpoints and compactions, and the log's own thread runs both
/// when they are due. From time to time, the store is closed and reopened.
package final class KillLife: Sendable {
    private let store: KillStore
    private let canary: Bool
    private let random: Guarded<Seed>
    private let isEnding = Atomic<Bool>(false)
    private let writersLeft = Atomic<Int>(0)
    private let failure = Guarded<String?>(nil)

    /// - Parameters:
    ///   - path: The directory of the store.
    ///   - storeSeed: Determines the contents of the objects.
    ///   - seed: Determines how long the store stays open, and which other calls are made.
    ///   - canary: Whether transactions are acknowledged before anything is written.
    package init(path: String, storeSeed: UInt64, seed: UInt64, canary: Bool) {
        store = KillStore(path: path, seed: storeSeed)
        self.canary = canary
        random = Guarded(Seed(seed))
    }

    /// Runs until the process is killed.
    ///
    /// - Returns: The failure that ended the workload early: a refused write, or a wrong result of a read.
    package func run() -> String {
        // In case the process is not killed.
        alarm(120)
        while true {
            do {
                let log = try store.open(.writing)
                try live(log)
                if let failure = failure.withLock({ $0 }) { return failure }
                try log.close()
            } catch {
                return "\(error)"
            }
        }
    }

    private func live(_ log: Log) throws {
        let snapshot = log.snapshot()
        let writers = try (0..<KillModel.writerCount).map { try KillWriter($0, store.values, snapshot) }
        KillMessage.opened.send()
        isEnding.store(false, ordering: .releasing)
        let ended = DispatchSemaphore(value: 0)
        for writer in writers {
            let random = random.withLock { $0.fork() }
            Thread { [self] in
                write(log, writer, random)
                ended.signal()
            }.start()
        }
        let random = random.withLock { $0.fork() }
        let keeper = Thread { [self] in
            keep(log, random)
            ended.signal()
        }
        keeper.start()
        for _ in writers { ended.wait() }
        isEnding.store(true, ordering: .releasing)
        ended.wait()
    }

    private func write(_ log: Log, _ writer: KillWriter, _ random: Seed) {
        var (writer, random) = (writer, random)
        let name = writer.writer
        do {
            for _ in 0..<20 + random.below(200) where failure.withLock({ $0 == nil }) {
                let digest = try writer.commit(log, isGivenUpFirst: random.oneIn(10)) { number, digest in
                    if canary { KillMessage.acknowledged(writer: name, number: number, digest: digest).send() }
                }
                if !canary { KillMessage.acknowledged(writer: name, number: writer.number, digest: digest).send() }
            }
        } catch {
            fail("writer \(name): \(error)")
        }
    }

    private func keep(_ log: Log, _ random: Seed) {
        var random = random
        do {
            while !isEnding.load(ordering: .acquiring) {
                switch random.below(8) {
                case 0: try log.checkpoint()
                case 1:
                    let report = try log.compact()
                    if let damage = report.damage.first { fail("compaction met rot: \(damage)") }
                default:
                    try KillCheck(values: store.values, snapshot: log.snapshot()).runAlone(
                        readsBlobs: random.oneIn(4))
                }
                usleep(UInt32(random.below(3_000)))
            }
        } catch {
            fail("reading or keeping: \(error)")
        }
    }

    private func fail(_ what: String) { failure.withLock { $0 = $0 ?? what } }
}
