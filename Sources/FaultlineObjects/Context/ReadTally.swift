internal import FaultlineDisk
internal import Synchronization

/// Counts the reads of one context.
///
/// Only the context's thread writes it, so that an addition is a load and a store without a lock; any thread may read
/// it. Bytes of large values may be added by any thread, because a `Blob` may be read there.
final class ReadTally: Sendable {
    private let faultsFired = Atomic<Int>(0)
    private let rowsRead = Atomic<Int>(0)
    private let blobBytesRead = Atomic<Int>(0)
    private let savedBlobs = Guarded(SavedBlobs())
    /// The sum that it belongs to; nil for none.
    private let tallies: ReadTallies?

    init(in tallies: ReadTallies?) { self.tallies = tallies }

    /// Begins to count in the sum.
    func begin() { tallies?.begin(self) }

    /// Leaves its counts to the sum.
    func end() { tallies?.end(self) }

    @inline(__always) func addFault() { Self.add(1, to: faultsFired) }
    @inline(__always) func addRow() { Self.add(1, to: rowsRead) }
    func addRows(_ count: Int) { Self.add(count, to: rowsRead) }
    /// Adds bytes of large values, on any thread.
    func addBlobBytes(_ count: Int) { blobBytesRead.wrappingAdd(count, ordering: .relaxed) }

    /// Adds the large values of a save.
    func add(_ blobs: SavedBlobs) {
        guard !blobs.isEmpty else { return }
        savedBlobs.withLock { $0.add(blobs) }
    }

    /// The large values of all saves.
    var saved: SavedBlobs { savedBlobs.withLock { $0 } }

    func add(_ counters: FaultCounters) {
        Self.add(counters.faultsFired, to: faultsFired)
        Self.add(counters.rowsRead, to: rowsRead)
        addBlobBytes(counters.blobBytesRead)
    }

    @inline(__always)
    private static func add(_ count: Int, to counter: borrowing Atomic<Int>) {
        counter.store(counter.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }

    /// The counts; `cacheBytes` is 0.
    var counters: FaultCounters {
        var counters = FaultCounters()
        counters.faultsFired = faultsFired.load(ordering: .relaxed)
        counters.rowsRead = rowsRead.load(ordering: .relaxed)
        counters.blobBytesRead = blobBytesRead.load(ordering: .relaxed)
        return counters
    }
}

/// The large values that saves have written and moved.
package struct SavedBlobs: Sendable {
    /// Bytes of values that were written, or copied.
    package var byteCountWritten = 0
    /// Bytes of values that a new owner took over, and that were not written again.
    package var byteCountMoved = 0
    /// Values that an object gave up, and another took over, in one save.
    package var passedCount = 0

    package init() {}

    var isEmpty: Bool { byteCountWritten == 0 && byteCountMoved == 0 }

    mutating func add(_ other: SavedBlobs) {
        byteCountWritten += other.byteCountWritten
        byteCountMoved += other.byteCountMoved
        passedCount += other.passedCount
    }
}

/// The reads of all contexts of one container, including those that are gone.
package final class ReadTallies: Sendable {
    private struct State {
        var living: [ObjectIdentifier: ReadTally] = [:]
        var gone = FaultCounters()
        var goneBlobs = SavedBlobs()
    }
    private let state = Guarded(State())

    package init() {}

    func begin(_ tally: ReadTally) { state.withLock { $0.living[ObjectIdentifier(tally)] = tally } }

    func end(_ tally: ReadTally) {
        state.withLock {
            $0.living[ObjectIdentifier(tally)] = nil
            $0.gone = $0.gone + tally.counters
            $0.goneBlobs.add(tally.saved)
        }
    }

    /// The sum; `cacheBytes` is 0.
    package var sum: FaultCounters {
        state.withLock { $0.living.values.reduce($0.gone) { $0 + $1.counters } }
    }

    /// The large values of all saves.
    package var savedBlobs: SavedBlobs {
        state.withLock { state in
            var sum = state.goneBlobs
            for tally in state.living.values { sum.add(tally.saved) }
            return sum
        }
    }
}
