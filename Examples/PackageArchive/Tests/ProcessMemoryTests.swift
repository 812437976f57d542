import FaultlineTestSupport
import Glibc
import PackageArchive
import Testing

@Suite struct ProcessMemoryTests {
    /// In a separate process, where no other test allocates memory or resets the peak.
    @Test(.enabled(if: PeakMemory.isExact, "a sanitizer keeps freed memory"))
    func seesMemoryComeAndGo() async {
        await #expect(processExitsWith: .success) {
            let byteCount = 64 << 20
            let slack = 8 << 20
            let before = ProcessMemory.now()
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 4096)
            memory.initializeMemory(as: UInt8.self, repeating: 1)
            let during = ProcessMemory.now()
            memory.deallocate()
            let after = ProcessMemory.now()
            ProcessMemory.resetPeak()
            let reset = ProcessMemory.now()

            #expect(before.residentByteCount > 1 << 20)
            #expect(during.residentByteCount - before.residentByteCount > byteCount - slack)
            #expect(after.residentByteCount < before.residentByteCount + slack)
            #expect(after.peakByteCount - before.residentByteCount > byteCount - slack)
            #expect(reset.peakByteCount < before.residentByteCount + slack)
        }
    }
}
