/// Measures the timed part of one workload: time, processor time, memory, bytes on disk and bytes written.
///
/// Calls come in this order: `begin`, then `resume` and `pause` alternately (with `advance` wherever operations end),
/// `end`, optionally `settle`, `line`. Work between `pause` and `resume` is not timed but counts towards the peaks.
package final class WorkloadMeasurement {
    private let store: StoreFolder?
    private let sampler: PeakSampler
    private var line = ResultLine()
    private var wall: UInt64 = 0
    private var processor: UInt64 = 0
    private var wallStart: UInt64 = 0
    private var processorStart: UInt64 = 0
    private var isRunning = false
    private var isEnded = false
    private var writtenBefore: Int?
    private let total: Int
    private let clock: Clock
    private var done = 0
    private var tenthDone = 0
    private var tenthWall: UInt64 = 0
    private var leastTenth: Double?

    /// Prepares a measurement.
    ///
    /// - Parameters:
    ///   - store: The folder whose bytes on disk are watched; nil for none.
    ///   - total: The number of operations that `advance` will count, for the slowest tenth; 0 for none.
    ///   - clock: The source of time.
    package init(store: StoreFolder?, total: Int = 0, clock: Clock = Clock()) {
        self.store = store
        self.total = total
        self.clock = clock
        sampler = PeakSampler(store: store)
    }

    /// The two clocks, in nanoseconds; tests set their own.
    package struct Clock: Sendable {
        package var wall: @Sendable () -> UInt64 = ProcessFigures.wallNanoseconds
        package var processor: @Sendable () -> UInt64 = ProcessFigures.processorNanoseconds

        package init() {}
    }

    /// The number of samples so far: one every 10 ms, by a separate thread.
    package var sampleCount: Int { sampler.count }

    /// Records the base values and starts watching; the clock does not run until `resume`.
    package func begin() {
        line.load = ProcessFigures.load()
        line.diskBeforeByteCount = store?.diskByteCount ?? 0
        writtenBefore = ProcessFigures.writtenByteCount()
        sampler.start()
        ProcessFigures.resetPeak()
        let memory = ProcessFigures.memory()
        line.residentBeforeKiB = memory.residentKiB
        line.anonymousBeforeKiB = memory.anonymousKiB
    }

    /// Starts the clock.
    package func resume() {
        precondition(!isRunning, "the clock runs already")
        isRunning = true
        processorStart = clock.processor()
        wallStart = clock.wall()
    }

    /// Stops the clock until `resume`.
    package func pause() {
        let wallNow = clock.wall()
        let processorNow = clock.processor()
        precondition(isRunning, "the clock stands still")
        isRunning = false
        wall += wallNow - wallStart
        processor += processorNow - processorStart
    }

    /// Runs a part of the work with the clock on, and counts its operations.
    package func time(_ count: Int, _ work: () throws -> Void) rethrows {
        resume()
        try work()
        advance(count)
        pause()
    }

    /// Counts finished operations; keeps the rate of the slowest tenth.
    package func advance(_ count: Int) {
        done += count
        guard total >= 10, (done - tenthDone) * 10 >= total else { return }
        let now = isRunning ? wall + clock.wall() - wallStart : wall
        let seconds = Double(now - tenthWall) / 1e9
        if seconds > 0 {
            let rate = Double(done - tenthDone) / seconds
            leastTenth = min(leastTenth ?? rate, rate)
        }
        tenthDone = done
        tenthWall = now
    }

    /// Ends the timed part: records the peaks and the bytes written.
    package func end() {
        if isRunning { pause() }
        precondition(!isEnded, "a measurement ends once")
        isEnded = true
        line.peakResidentKiB = ProcessFigures.memory().peakKiB
        let peaks = sampler.stop()
        line.peakAnonymousKiB = peaks.anonymousKiB
        line.peakDiskByteCount = peaks.diskByteCount
        if let before = writtenBefore, let after = ProcessFigures.writtenByteCount() {
            line.writtenByteCount = after - before
        }
        line.leastTenthPerSecond = leastTenth
        line.seconds = Double(wall) / 1e9
        line.processorSeconds = Double(processor) / 1e9
    }

    /// Times the store's pending work after its last commit.
    package func settle(_ body: () throws -> Void) rethrows {
        precondition(isEnded, "settling comes after the timed part")
        let start = clock.wall()
        try body()
        line.settleSeconds = Double(clock.wall() - start) / 1e9
    }

    /// The result, with the present bytes on disk.
    package func line(workload: String, n: Int, operations: Int) -> ResultLine {
        precondition(isEnded, "the result comes after the timed part")
        var result = line
        result.workload = workload
        result.n = n
        result.operations = operations
        result.diskByteCount = store?.diskByteCount ?? 0
        result.peakDiskByteCount = max(result.peakDiskByteCount, result.diskBeforeByteCount)
        return result
    }
}
