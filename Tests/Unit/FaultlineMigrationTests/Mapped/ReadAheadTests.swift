import Faultline
import FaultlineLog
import FaultlineObjects
import FaultlineStore
import FaultlineTestSupport
import Testing

/// Rows that the second pass of a mapped stage reads together.
struct ReadAheadTests {
    @Test(
        "B4: rows that were read ahead take no memory outside of the budget", .enabled(if: PeakMemory.isExact))
    func staysInTheBudget() async {
        await #expect(processExitsWith: .success) {
            let count: RecordID = 40_000
            try Stores().use(Shop1.self) { container, context in
                for number in 0..<count { context.insert(Shop1.Tag(word: "w\(number)")) }
                try context.save()
                let stage = StageContext(ModelContext(container).core)
                func uncounted() -> Int { PeakMemory.allocatedByteCount - container.rowStore.log.budget.used }
                func read(from first: RecordID) {
                    stage.readAhead(Array(first..<first + 200), entityNamed: "Tag")
                }
                read(from: 1)
                let before = uncounted()
                for first in stride(from: 201, to: count, by: 200) { read(from: first) }
                let byteCount = uncounted() - before
                print("\(byteCount >> 10) KiB for \(count) rows")
                #expect(byteCount <= 128 << 10)
            }
        }
    }
}
