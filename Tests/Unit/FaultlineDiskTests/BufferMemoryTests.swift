import FaultlineDisk
import FaultlineTestSupport
import Synchronization
import Testing

/// Tests that freed memory returns to the system.
struct BufferMemoryTests {
    @Test(arguments: [1, 4_095, 65_535, 65_536, 65_537, 131_072, 3 << 20])
    func `every byte of a buffer can be written`(byteCount: Int) {
        for _ in 0..<3 {
            let start = BufferMemory.allocate(byteCount: byteCount)
            #expect(Int(bitPattern: start) % 16 == 0)
            start.initializeMemory(as: UInt8.self, repeating: 0xA5, count: byteCount)
            #expect(start.load(fromByteOffset: byteCount - 1, as: UInt8.self) == 0xA5)
            BufferMemory.deallocate(start, byteCount: byteCount)
        }
    }

    @Test func `a region is taken again by the next of its size, and by no other`() {
        let mapped = Guarded<[Int]>([])
        let regions = PageRegions { byteCount in
            mapped.withLock { $0.append(byteCount) }
            return PageRegions.mapPages(byteCount)
        }
        let first = regions.take(70_000)
        let second = regions.take(70_000)
        regions.give(first, 70_000)
        #expect(regions.waitingByteCount == 73_728)
        // It has the same size in pages.
        #expect(regions.take(73_700) == first)
        #expect(regions.waitingByteCount == 0)
        regions.give(first, 73_700)
        regions.give(second, 70_000)
        let other = regions.take(131_072)
        #expect(mapped.withLock { $0 } == [73_728, 73_728, 131_072])
        regions.give(other, 131_072)
    }

    @Test func `few regions wait, the newest ones, and no large one`() {
        let regions = PageRegions()
        regions.give(regions.take(300 << 10), 300 << 10)
        #expect(regions.waitingByteCount == 0)
        let taken = (0..<40).map { _ in regions.take(128 << 10) }
        for start in taken { regions.give(start, 128 << 10) }
        #expect(regions.waitingByteCount == PageRegions.keptByteCountMax)
        #expect(regions.take(128 << 10) == taken[39])
        #expect(regions.take(128 << 10) == taken[38])
        regions.give(taken[38], 128 << 10)
        regions.give(taken[39], 128 << 10)
    }

    @Test func `more regions wait, and larger ones, if they are to be kept`() {
        let regions = PageRegions()
        regions.keep(upTo: 4 << 20)
        let taken = (0..<3).map { _ in regions.take(2 << 20) }
        for start in taken { regions.give(start, 2 << 20) }
        #expect(regions.waitingByteCount == 4 << 20)
        let large = regions.take(5 << 20)
        regions.give(large, 5 << 20)
        #expect(regions.waitingByteCount == 4 << 20)
        // Limits do not shrink below those of regions that wait.
        regions.keep(upTo: 0)
        #expect(regions.take(2 << 20) == taken[2])
        regions.give(taken[2], 2 << 20)
        #expect(regions.waitingByteCount == 4 << 20)
    }

    @Test func `large buffers that are given back are resident no longer`() {
        // Other tests allocate and free memory at the same time, so this uses much more.
        let byteCount = 256 << 20
        let before = PeakMemory.residentByteCount ?? 0
        let buffers = (0..<32).map { _ in BufferMemory.allocate(byteCount: byteCount / 32) }
        for start in buffers { start.initializeMemory(as: UInt8.self, repeating: 1, count: byteCount / 32) }
        let between = PeakMemory.residentByteCount ?? 0
        // Every other one: a used neighbour must not keep freed memory.
        for (place, start) in buffers.enumerated() where place % 2 == 0 {
            BufferMemory.deallocate(start, byteCount: byteCount / 32)
        }
        let after = PeakMemory.residentByteCount ?? 0
        for (place, start) in buffers.enumerated() where place % 2 == 1 {
            BufferMemory.deallocate(start, byteCount: byteCount / 32)
        }
        #expect(between - before > byteCount / 4 * 3)
        #expect(between - after > byteCount / 8 * 3)
    }

    @Test func `where the system gives no pages the allocator's memory is taken`() {
        let regions = PageRegions { _ in nil }
        let start = regions.take(100_000)
        start.initializeMemory(as: UInt8.self, repeating: 7, count: 100_000)
        #expect(Int(bitPattern: start) % 64 == 0)
        regions.give(start, 100_000)
        #expect(regions.waitingByteCount == 0)
    }
}
