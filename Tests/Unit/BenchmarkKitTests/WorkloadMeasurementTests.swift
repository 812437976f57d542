import BenchmarkKit
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct WorkloadMeasurementTests {
    /// A clock that a test sets.
    final class SetClock: Sendable {
        private let nanoseconds = Atomic<UInt64>(0)

        /// Wall time as set, processor time twice that.
        var clock: WorkloadMeasurement.Clock {
            var clock = WorkloadMeasurement.Clock()
            clock.wall = { self.nanoseconds.load(ordering: .relaxed) }
            clock.processor = { self.nanoseconds.load(ordering: .relaxed) * 2 }
            return clock
        }

        func advance(_ milliseconds: UInt64) { nanoseconds.add(milliseconds * 1_000_000, ordering: .relaxed) }
    }

    /// Waits until the sampler, which may be in the middle of a sample, has taken a complete one.
    static func waitForASample(_ measurement: WorkloadMeasurement) {
        let count = measurement.sampleCount + 2
        while measurement.sampleCount < count { sched_yield() }
    }

    @Test func timesOnlyWhatRunsBetweenResumeAndPause() {
        let time = SetClock()
        let measurement = WorkloadMeasurement(store: nil, clock: time.clock)
        measurement.begin()
        time.advance(1000)
        measurement.resume()
        time.advance(20)
        measurement.pause()
        time.advance(1000)
        measurement.resume()
        time.advance(30)
        measurement.end()
        time.advance(1000)

        let line = measurement.line(workload: "x", n: 1, operations: 1)
        #expect(line.seconds == 0.05)
        #expect(line.processorSeconds == 0.1)
    }

    /// In a separate process, where no other test allocates memory.
    @Test(.enabled(if: PeakMemory.isExact)) func seesThePeaksOfMemory() async {
        await #expect(processExitsWith: .success) {
            // An earlier peak, which `begin` must set back.
            let earlier = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 20, alignment: 4096)
            earlier.initializeMemory(as: UInt8.self, repeating: 1)
            earlier.deallocate()
            let measurement = WorkloadMeasurement(store: nil)
            measurement.begin()
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 20, alignment: 4096)
            memory.initializeMemory(as: UInt8.self, repeating: 1)
            Self.waitForASample(measurement)
            memory.deallocate()
            measurement.end()

            let line = measurement.line(workload: "x", n: 1, operations: 1)
            let expected = (56 << 10)...(72 << 10)
            #expect(expected.contains(line.peakResidentKiB - line.residentBeforeKiB))
            #expect(expected.contains(line.peakAnonymousKiB - line.anonymousBeforeKiB))
        }
    }

    @Test func seesThePeakOfTheDisk() throws {
        let folder = StoreFolder(NSTemporaryDirectory() + "faultline-kit-\(UUID())")
        try folder.make()
        defer { try? folder.remove() }
        let measurement = WorkloadMeasurement(store: folder)
        measurement.begin()
        let file = folder.path + "/deep/file"
        try StoreFolder(folder.path + "/deep").make()
        // Random bytes: a file system that compresses zeros would show none.
        var source = SplitMix64(1)
        var bytes = Data(capacity: 8 << 20)
        while bytes.count < 8 << 20 { withUnsafeBytes(of: source.draw()) { bytes.append(contentsOf: $0) } }
        try bytes.write(to: URL(fileURLWithPath: file))
        Self.waitForASample(measurement)
        try StoreFolder(file).remove()
        measurement.end()

        let line = measurement.line(workload: "x", n: 1, operations: 1)
        #expect(line.peakDiskByteCount >= 4 << 20)
        #expect(line.diskByteCount < 1 << 20)
        #expect(line.diskBeforeByteCount < 1 << 20)
    }

    @Test func keepsTheSlowestTenth() {
        let time = SetClock()
        let measurement = WorkloadMeasurement(store: nil, total: 100, clock: time.clock)
        measurement.begin()
        for step in 1...20 {
            measurement.resume()
            time.advance(step == 14 ? 50 : 1)
            if step.isMultiple(of: 4) { measurement.advance(5) }
            measurement.pause()
            time.advance(500)
            if !step.isMultiple(of: 4) { measurement.advance(5) }
        }
        measurement.end()

        let line = measurement.line(workload: "x", n: 100, operations: 100)
        #expect(line.leastTenthPerSecond == 10 / 0.051)
    }

    @Test func timesSettlingOnItsOwn() {
        let time = SetClock()
        let measurement = WorkloadMeasurement(store: nil, clock: time.clock)
        measurement.begin()
        measurement.resume()
        time.advance(1)
        measurement.end()
        measurement.settle { time.advance(20) }

        let line = measurement.line(workload: "x", n: 1, operations: 1)
        #expect(line.settleSeconds == 0.02)
        #expect(line.seconds == 0.001)
    }

    @Test func countsBytesWritten() throws {
        try #require(ProcessFigures.writtenByteCount() != nil)
        let measurement = WorkloadMeasurement(store: nil)
        measurement.begin()
        measurement.end()

        let line = measurement.line(workload: "x", n: 1, operations: 1)
        #expect(line.writtenByteCount ?? -1 >= 0)
    }
}
