import Faultline
import FaultlineDisk
import FaultlineMigration
import Synchronization
import Testing

struct ThrottleTests {
    @Test func `a batch is due when its time is over, to the nanosecond`() {
        var throttle = Throttle(bytesPerSecond: 3, byteCount: 100, now: 1_000)
        #expect(throttle.wait(100, now: 1_000) == 0)
        var now: UInt64 = 1_000
        var waits: [UInt64] = []
        for byteCount in 101...106 as ClosedRange<UInt64> {
            waits.append(throttle.wait(byteCount, now: now))
            now += waits.last ?? 0
        }
        #expect(waits == [333_333_333, 333_333_333, 333_333_334, 333_333_333, 333_333_333, 333_333_334])
        // Without the wait, the rest is still due.
        #expect(throttle.wait(109, now: now) == 1_000_000_000)
        #expect(throttle.wait(109, now: now + 400_000_000) == 600_000_000)
        #expect(throttle.wait(112, now: now + 400_000_000) == 1_600_000_000)
        // Time in which nothing was written is not saved up.
        now += 100_000_000_000
        #expect(throttle.wait(112, now: now) == 0)
        #expect(throttle.wait(115, now: now) == 1_000_000_000)
    }

    @Test func `limits that no clock can hold are no trap`() {
        var throttle = Throttle(bytesPerSecond: 0, byteCount: 0, now: 0)
        #expect(throttle.wait(1 << 60, now: 5) == .max)
        #expect(throttle.wait(1 << 30, now: 5) == 0)
        var slow = Throttle(bytesPerSecond: 1, byteCount: 0, now: .max - 10)
        #expect(slow.wait(5, now: .max - 10) == 10)
    }

    @Test(arguments: [1, 20_000]) func `a migration takes the time that its bytes are given`(batch: Int) throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let now = Guarded<UInt64>(0)
        let longest = Guarded<UInt64>(0)
        let clock = Clock {
            1
        } monotonicNanoseconds: {
            now.withLock { $0 }
        }
        var options = MigrationOptions()
        options.batchByteCount = batch
        options.bytesPerSecond = 7_001
        options.sleep = { nanoseconds in
            longest.withLock { $0 = max($0, nanoseconds) }
            now.withLock { $0 += nanoseconds }
        }
        let told = Guarded<[UInt64]>([])
        options.progress = { _ in told.withLock { $0.append(now.withLock { $0 }) } }
        try stores.use(Work2.self, WorkPlan.self, migration: options, clock: clock) { container, context in
            let report = container.migrationReport
            let time = now.withLock { $0 }
            #expect(report.bytesWritten > 20_000)
            #expect(time == UInt64(report.bytesWritten) * 1_000_000_000 / 7_001)
            #expect(report.nanoseconds == Int(time))
            try WorkStore.check(context)
        }
        // The observer is told of each wait.
        #expect(longest.withLock { $0 } <= 100_000_000)
        let moments = told.withLock { $0 }
        #expect(zip(moments, moments.dropFirst()).allSatisfy { $1 - $0 <= 100_000_000 })
    }
}
