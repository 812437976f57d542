import FaultlineTestSupport
import Glibc
import Testing

struct PeakMemoryTests {
    @Test(.enabled(if: PeakMemory.isExact))
    func seesWhatWasTouchedAndGivenBack() async {
        await #expect(processExitsWith: .success) {
            let growth = PeakMemory.growth {
                let memory = UnsafeMutableRawPointer.allocate(byteCount: 64 << 20, alignment: 4096)
                memset(memory, 1, 64 << 20)
                memory.deallocate()
            }

            let byteCount = try #require(growth?.byteCount)
            #expect(byteCount >= 60 << 20 && byteCount < 90 << 20, "grew by \(byteCount) bytes")
            let resident = try #require(PeakMemory.residentByteCount)
            #expect(resident < 60 << 20)
            #expect(PeakMemory.reset())
            #expect(try #require(PeakMemory.peakByteCount) < 60 << 20)
        }
    }

    @Test func `a rise that the kernel does not tell is not measured`() throws {
        #expect(throws: PeakMemory.Unmeasured.self) { try PeakMemory.Rise(isReset: false, before: 1) }
        #expect(throws: PeakMemory.Unmeasured.self) { try PeakMemory.Rise(isReset: true, before: nil) }
        let rise = try PeakMemory.Rise(isReset: true, before: 5)
        #expect(throws: PeakMemory.Unmeasured.self) { try rise.byteCount(to: nil) }
        try #expect(rise.byteCount(to: 12) == 7)
    }
}
