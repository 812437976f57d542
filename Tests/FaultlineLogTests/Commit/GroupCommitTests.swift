import Dispatch
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Foundation
import Glibc
import Synchronization
import Testing

struct GroupCommitTests {
    /// What a thread of the test works with.
    final class Work: Sendable {
        let log: Log
        let number: Int
        init(_ log: Log, _ number: Int) {
            self.log = log
            self.number = number
        }
    }

    @Test func letsThreadsCommitTogether() throws {
        let store = Store()
        var options = Store.options
        options.segmentByteCount = 20_000
        options.checkpointByteCount = 30_000
        options.maintenance = .thread
        let log = try store.open(options)
        var threads: [pthread_t] = []
        for number in 0..<6 {
            var thread = pthread_t()
            let work = Unmanaged.passRetained(Work(log, number))
            pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                    for step in 0..<100 {
                        do {
                            let number = work.number * 1_000 + step
                            let (id, receipt) = try work.log.write(author: nil) { try $0.insert(row(number)) }
                            let seen = try receipt.snapshot.row(id)
                            precondition(seen == row(number), "A receipt's snapshot shows the transaction.")
                            precondition(
                                receipt.snapshot.sequence >= receipt.sequence, "A receipt's snapshot is not older.")
                        } catch {
                            preconditionFailure("\(error)")
                        }
                    }
                    return nil
                }, work.toOpaque())
            threads.append(thread)
        }
        for thread in threads { pthread_join(thread, nil) }

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

    /// Threads that commit until they are refused, and what they were told is stored.
    final class Crowd: Sendable {
        let log: Log
        let acknowledged = Mutex<[RecordID]>([])

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

    @Test func `a group that could not be made durable is acknowledged to nobody`() throws {
        let store = Store()
        let disk = FailingDisk(over: store.disk)
        let log = try store.open(on: disk)
        let ordinal = 6
        disk.arm(DiskFault(ordinal: ordinal, isSticky: true) { $0.site == "log.commit" })
        // The others queue while one synchronizes.
        store.disk.onOperation = { _, _ in usleep(5_000) }
        let crowd = Crowd(log)
        var threads: [pthread_t] = []
        for _ in 0..<6 {
            var thread = pthread_t()
            pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<Crowd>.fromOpaque(argument).takeRetainedValue().commit()
                    return nil
                }, Unmanaged.passRetained(crowd).toOpaque())
            threads.append(thread)
        }
        for thread in threads { pthread_join(thread, nil) }
        store.disk.onOperation = nil
        let acknowledged = crowd.acknowledged.withLock { $0 }
        #expect(acknowledged.count > ordinal, "no commit had a follower")
        log.abandonForTests()
        let recovered = try Store(store.disk.withOnlyWhatIsDurable()).open()
        for id in acknowledged { #expect(try recovered.snapshot().row(id, in: plainTable) != nil, "object \(id)") }
        recovered.abandonForTests()
    }

    /// A commit that is held up while it is made durable, and somebody who reads in a transaction meanwhile.
    final class Encounter: Sendable {
        let log: Log
        let isHeldUp = DispatchSemaphore(value: 0)
        let mayGoOn = DispatchSemaphore(value: 0)
        let hasSeen = DispatchSemaphore(value: 0)
        let isDurable = Atomic<Bool>(false)

        init(_ log: Log) {
            self.log = log
        }

        /// What a transaction that writes nothing was told, and whether that was durable when it ended.
        func read() throws -> (count: Int, receipt: CommitReceipt, wasDurable: Bool) {
            let (count, receipt) = try log.write(author: nil) { transaction in
                hasSeen.signal()
                return transaction.recordCount(of: plainTable)
            }
            return (count, receipt, isDurable.load(ordering: .acquiring))
        }
    }

    @Test func `a transaction that writes nothing ends when what it saw is durable`() throws {
        let disk = FailingDisk(over: Store().disk)
        let log = try Store().open(on: disk)
        let encounter = Encounter(log)
        disk.arm(
            DiskFault { operation in
                guard operation.kind == .synchronize, operation.site == "log.commit" else { return false }
                encounter.isHeldUp.signal()
                encounter.mayGoOn.wait()
                encounter.isDurable.store(true, ordering: .releasing)
                return false
            })
        let failures = Mutex<[any Error]>([])
        let hasCommitted = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do {
                try encounter.log.insert([row(1)], in: plainTable)
            } catch {
                failures.withLock { $0.append(error) }
            }
            hasCommitted.signal()
        }
        encounter.isHeldUp.wait()
        Thread.detachNewThread {
            encounter.hasSeen.wait()
            // Time enough to end too early.
            usleep(50_000)
            encounter.mayGoOn.signal()
        }
        let found = try encounter.read()
        hasCommitted.wait()
        disk.disarm()
        #expect(failures.withLock { $0.isEmpty })
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
        let syncCount = Mutex(0)
        disk.arm(
            DiskFault { operation in
                if operation.kind == .synchronize { syncCount.withLock { $0 += 1 } }
                guard operation.kind == .write else { return false }
                encounter.isHeldUp.signal()
                encounter.mayGoOn.wait()
                return false
            })
        let failures = Mutex<[any Error]>([])
        let hasCommitted = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do {
                try encounter.log.insert([row(1)], in: plainTable)
            } catch {
                failures.withLock { $0.append(error) }
            }
            hasCommitted.signal()
        }
        encounter.isHeldUp.wait()
        Thread.detachNewThread {
            encounter.hasSeen.wait()
            encounter.mayGoOn.signal()
        }
        let found = try encounter.read()
        hasCommitted.wait()
        disk.disarm()
        #expect(failures.withLock { $0.isEmpty })
        #expect(found.count == 1 && found.receipt.snapshot.sequence == found.receipt.sequence)
        #expect(syncCount.withLock { $0 } == 0)
        try log.close()
    }

    /// A checkpoint seals the full segment of blobs while a commit is held up; who comes next begins another one.
    @Test func `blobs of a group are durable with it, in whatever segment they lie`() throws {
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
                guard operation.kind == .synchronize, operation.site == "log.commit",
                    isFirst.exchange(false, ordering: .acquiringAndReleasing)
                else { return false }
                encounter.isHeldUp.signal()
                encounter.mayGoOn.wait()
                return false
            })
        let owner = BlobOwner(table: plainTable, slot: 1, id: 1)
        let bytes = [row(1, byteCount: 30_000), row(2, byteCount: 3_000)]
        let ids = Mutex<[Int: RecordID]>([:])
        let hasEnded = DispatchSemaphore(value: 0)
        let failures = Mutex<[any Error]>([])
        func begin(_ body: @escaping @Sendable () throws -> Void) {
            Thread.detachNewThread {
                do { try body() } catch { failures.withLock { $0.append(error) } }
                hasEnded.signal()
            }
            // Time enough to be queued.
            usleep(100_000)
        }
        begin { try encounter.log.insert([row(1)], in: plainTable) }
        encounter.isHeldUp.wait()
        for number in 0..<2 {
            begin {
                let id = try encounter.log.write(author: nil) { transaction in
                    try bytes[number].withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
                }.value
                ids.withLock { $0[number] = id }
            }
            if number == 0 { begin { try encounter.log.checkpoint() } }
        }
        encounter.mayGoOn.signal()
        for _ in 0..<4 { hasEnded.wait() }
        disk.disarm()
        #expect(failures.withLock { $0.isEmpty })
        log.abandonForTests()
        let again = try Store(store.disk.withOnlyWhatIsDurable()).open(options)
        for (number, id) in ids.withLock({ $0 }) { #expect(try again.snapshot().blob(id) == bytes[number]) }
        #expect(try again.findings().isEmpty)
        try again.close()
    }
}
