import Dispatch
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Foundation
import Glibc
import Synchronization
import Testing

/// Tests the view and the actions of other threads while a commit is delayed on its way to the disk.
struct HeldUpCommitTests {
    /// A commit that the disk delays, and the threads beside it.
    final class Encounter: Sendable {
        let log: Log
        let isHeldUp = DispatchSemaphore(value: 0)
        let mayGoOn = DispatchSemaphore(value: 0)
        private let hasSeen = DispatchSemaphore(value: 0)
        private let isDurable = Atomic<Bool>(false)
        private let failures = Guarded<[any Error]>([])
        private let hasEnded = DispatchSemaphore(value: 0)

        init(_ log: Log) {
            self.log = log
        }

        /// Called by the disk.
        func holdUp() {
            isHeldUp.signal()
            mayGoOn.wait()
            isDurable.store(true, ordering: .releasing)
        }

        /// Runs `body` on a separate thread.
        func begin(_ body: @escaping @Sendable () throws -> Void) {
            Thread.detachNewThread { [self] in
                do { try body() } catch { failures.withLock { $0.append(error) } }
                hasEnded.signal()
            }
        }

        /// Waits for the threads; returns their errors.
        func end(_ count: Int) -> [any Error] {
            for _ in 0..<count { hasEnded.wait() }
            return failures.withLock { $0 }
        }

        /// The result of a transaction that writes nothing while an insert is delayed, and whether it was durable when
        /// it ended.
        func readBesideAnInsert() throws -> (count: Int, receipt: CommitReceipt, wasDurable: Bool) {
            begin { [self] in try log.insert([row(1)], in: plainTable) }
            isHeldUp.wait()
            begin { [self] in
                hasSeen.wait()
                // Enough time for it to end too early.
                usleep(50_000)
                mayGoOn.signal()
            }
            let (count, receipt) = try log.write(author: nil) { transaction in
                hasSeen.signal()
                return transaction.recordCount(of: plainTable)
            }
            return (count, receipt, isDurable.load(ordering: .acquiring))
        }
    }

    @Test func `a transaction that writes nothing ends when the state that it saw is durable`() throws {
        let disk = FailingDisk(over: Store().disk)
        let log = try Store().open(on: disk)
        let encounter = Encounter(log)
        disk.arm(
            DiskFault { operation in
                if operation.kind == .synchronize, operation.site == "log.commit" { encounter.holdUp() }
                return false
            })
        let found = try encounter.readBesideAnInsert()
        #expect(encounter.end(2).isEmpty)
        disk.disarm()
        #expect(found.count == 1)
        #expect(found.wasDurable)
        #expect(found.receipt.snapshot.sequence >= found.receipt.sequence)
        try log.close()
    }

    @Test func `where commits are not synchronized, a transaction that writes nothing is not either`() throws {
        let store = Store()
        let disk = FailingDisk(over: store.disk)
        var options = Store.options
        options.durability = .async
        let log = try store.open(options, on: disk)
        let encounter = Encounter(log)
        let syncCount = Atomic<Int>(0)
        disk.arm(
            DiskFault { operation in
                if operation.kind == .synchronize { syncCount.add(1, ordering: .relaxed) }
                if operation.kind == .write { encounter.holdUp() }
                return false
            })
        let found = try encounter.readBesideAnInsert()
        #expect(encounter.end(2).isEmpty)
        disk.disarm()
        #expect(found.count == 1 && found.receipt.snapshot.sequence == found.receipt.sequence)
        #expect(syncCount.load(ordering: .relaxed) == 0)
        try log.close()
    }

    /// A checkpoint seals the full blob segment while a commit is delayed; the next blob begins another one.
    @Test func `blobs of a group are durable with it, in any segment`() throws {
        let store = Store()
        let disk = FailingDisk(over: store.disk)
        var options = Store.options
        options.segmentByteCount = 20_000
        options.isCompressingBlobs = false
        let log = try store.open(options, on: disk)
        let encounter = Encounter(log)
        let isFirst = Atomic<Bool>(true)
        disk.arm(
            DiskFault { operation in
                if operation.kind == .synchronize, operation.site == "log.commit",
                    isFirst.exchange(false, ordering: .acquiringAndReleasing)
                {
                    encounter.holdUp()
                }
                return false
            })
        let owner = BlobOwner(table: plainTable, slot: 1, id: 1)
        let bytes = [row(1, byteCount: 30_000), row(2, byteCount: 3_000)]
        let ids = Guarded<[Int: RecordID]>([:])
        encounter.begin { try log.insert([row(1)], in: plainTable) }
        encounter.isHeldUp.wait()
        for number in 0..<2 {
            encounter.begin {
                let id = try log.write(author: nil) { transaction in
                    try bytes[number].withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
                }.value
                ids.withLock { $0[number] = id }
            }
            // Enough time to be queued.
            usleep(100_000)
            if number == 0 {
                encounter.begin { try log.checkpoint() }
                usleep(100_000)
            }
        }
        encounter.mayGoOn.signal()
        #expect(encounter.end(4).isEmpty)
        disk.disarm()
        log.abandonForTests()
        let again = try Store(store.disk.withOnlyWhatIsDurable()).open(options)
        for (number, id) in ids.withLock({ $0 }) { #expect(try again.snapshot().blob(id) == bytes[number]) }
        #expect(try again.findings().isEmpty)
        try again.close()
    }
}
