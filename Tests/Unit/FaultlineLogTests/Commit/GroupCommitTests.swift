import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Foundation
import Glibc
import Synchronization
import Testing

struct GroupCommitTests {
    @Test func letsThreadsCommitTogether() throws {
        let store = Store()
        var options = Store.options
        options.segmentByteCount = 20_000
        options.checkpointByteCount = 30_000
        options.maintenance = .thread
        let log = try store.open(options)
        let threads = try (0..<6).map { thread in
            try #require(
                SystemThread {
                    for step in 0..<100 {
                        do {
                            let number = thread * 1_000 + step
                            let (id, receipt) = try log.write(author: nil) { try $0.insert(row(number)) }
                            let seen = try receipt.snapshot.row(id)
                            precondition(seen == row(number), "A receipt's snapshot shows the transaction.")
                            precondition(
                                receipt.snapshot.sequence >= receipt.sequence, "A receipt's snapshot is not older.")
                        } catch {
                            preconditionFailure("\(error)")
                        }
                    }
                })
        }
        for thread in threads { thread.join() }

        #expect(log.snapshot().sequence == 600)
        #expect(log.snapshot().recordCount(of: testTable) == 600)
        #expect(try log.findings().isEmpty)
        #expect((store.disk.synchronizationCounts["log.commit"] ?? 0) <= 600)
        try log.close()
        let again = try store.open(options)
        #expect(again.openReport.wasClean)
        for number in 0..<6 {
            for step in 0..<100 { #expect(try again.snapshot().firstID(row(number * 1_000 + step)) != nil) }
        }
        try again.close()
    }

    /// Threads that commit until they are refused; everything acknowledged must be stored.
    final class Crowd: Sendable {
        let log: Log
        let acknowledged = Guarded<[RecordID]>([])

        init(_ log: Log) {
            self.log = log
        }

        func commit() {
            while true {
                do {
                    let id = try log.insert([row(1)], in: plainTable)
                    acknowledged.withLock { $0 += id }
                } catch {
                    return
                }
            }
        }
    }

    @Test func `no writer of a group that could not be made durable gets an acknowledgement`() throws {
        let store = Store()
        let disk = FailingDisk(over: store.disk)
        let log = try store.open(on: disk)
        let ordinal = 6
        disk.arm(DiskFault(ordinal: ordinal, isSticky: true) { $0.site == "log.commit" })
        // The others queue while one synchronizes.
        store.disk.onOperation = { _, _ in usleep(5_000) }
        let crowd = Crowd(log)
        let threads = try (0..<6).map { _ in try #require(SystemThread { crowd.commit() }) }
        for thread in threads { thread.join() }
        store.disk.onOperation = nil
        let acknowledged = crowd.acknowledged.withLock { $0 }
        #expect(acknowledged.count > ordinal, "no commit had a follower")
        log.abandonForTests()
        let recovered = try Store(store.disk.withOnlyWhatIsDurable()).open()
        for id in acknowledged { #expect(try recovered.snapshot().row(id, in: plainTable) != nil, "object \(id)") }
        recovered.abandonForTests()
    }
}
