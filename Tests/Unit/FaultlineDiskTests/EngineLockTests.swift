import FaultlineDisk
import Glibc
import Testing

struct EngineLockTests {
    // Safe because `count` is only touched with the lock held.
    private final class Counter: @unchecked Sendable {
        let lock = EngineLock()
        var count = 0
    }

    private struct Refused: Error, Equatable {}

    @Test func letsOneThreadInAtATime() async {
        let counter = Counter()

        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for round in 0..<20_000 {
                        if round % 2 == 0 {
                            counter.lock.withLock { counter.count += 1 }
                        } else {
                            counter.lock.lock()
                            counter.count += 1
                            counter.lock.unlock()
                        }
                    }
                }
            }
        }

        #expect(counter.count == 80_000)
    }

    @Test func isFreeAgainAfterAThrow() {
        let lock = EngineLock()

        #expect(throws: Refused()) { try lock.withLock { () throws(Refused) in throw Refused() } }

        #expect(lock.withLock { 7 } == 7)
    }
}
