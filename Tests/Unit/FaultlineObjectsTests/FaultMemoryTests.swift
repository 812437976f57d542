import BenchmarkKit
import Faultline
import FaultlineObjects
import FaultlineTestSupport
import Glibc
import Testing

@Suite(.serialized)
struct FaultMemoryTests {
    /// The usable bytes of an object's allocation.
    private static func usableByteCount(_ object: AnyObject) -> Int {
        typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Int
        guard let symbol = dlsym(nil, "malloc_usable_size") else { return -1 }
        // Safe because this is the C library's function with this name and type.
        return unsafeBitCast(symbol, to: Function.self)(Unmanaged.passUnretained(object).toOpaque())
    }

    @Test func anObjectTakes56Bytes() {
        #expect(Self.usableByteCount(Plain(number: 1, text: "")) == 56)
    }

    /// Counts the identity map and the array's slot too.
    @Test(.enabled(if: PeakMemory.isExact)) func aFaultTakesAtMost96Bytes() throws {
        let container = try makeContainer()
        let writer = ModelContext(container)
        let count = 60_000
        for number in 1...count {
            writer.insert(Plain(number: number, text: "x"))
            if number % 10_000 == 0 { try writer.save() }
        }
        let context = ModelContext(container)
        _ = try context.fetchCount(FetchDescriptor<Plain>())
        let before = ProcessFigures.memory().anonymousKiB
        let faults = try context.fetch(FetchDescriptor<Plain>())
        let after = ProcessFigures.memory().anonymousKiB
        #expect(faults.count == count)
        #expect((after - before) * 1024 <= count * 96)
        #expect(context.counters.rowsRead == 0)
    }
}
