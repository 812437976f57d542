internal import Dispatch
internal import FaultlineDisk
internal import FaultlineLog
internal import Synchronization

/// Distributes the old objects of one entity in shares, and lets the workers save theirs in the order of the shares.
///
/// The size of a share follows from the output of earlier ones, by a rule that does not depend on the number of
/// workers: so the written transactions do not either.
final class StreamedShares: Sendable {
    /// Consecutive old objects.
    struct Share: Sendable {
        /// Its index among the shares, from 0.
        let place: Int
        /// The range of numbers of its objects.
        let numbers: ClosedRange<RecordID>
    }

    /// The greatest number of shares in progress, and so of workers.
    static let inFlightMax = 4
    /// Numbers in each of the first shares: their objects take some hundred KiB.
    private static let firstCount = 1_024
    private static let countMin = 64
    private static let countMax = 16_384
    /// The turn after a failure.
    private static let stopped = -1

    private struct State {
        /// The first number that was not distributed.
        var next: RecordID
        /// The number of distributed shares.
        var claimed = 0
        /// Numbers of the next shares, by index modulo `inFlightMax`.
        var counts: [Int]
        var failure: (any Error)?
        /// Workers that wait for their turn, by the indexes of their shares.
        var waiting: [Int: DispatchSemaphore] = [:]
    }
    private let state: Guarded<State>
    /// The index of the share that may be saved; changed under the lock.
    private let turn = Atomic<Int>(0)
    private let last: RecordID
    /// The desired bytes of new values in a share.
    private let byteCount: Int
    private let countMax: Int

    /// - Parameters:
    ///   - first: The first number.
    ///   - last: The last one.
    ///   - byteCount: The desired bytes of new values in a share.
    ///   - count: Numbers of the first shares, and the most in any; nil for the default.
    init(_ first: RecordID, through last: RecordID, byteCount: Int, count: Int?) {
        self.last = last
        self.byteCount = max(byteCount, 1)
        countMax = count ?? Self.countMax
        state = Guarded(
            State(next: first, counts: [Int](repeating: count ?? Self.firstCount, count: Self.inFlightMax)))
    }

    /// The number of shares, if all are as large as the first.
    var countAtFirst: Int {
        state.withLock { $0.next > last ? 0 : (Int(last - $0.next) / $0.counts[0]) + 1 }
    }

    /// The next share; nil if there is none, or a worker has failed.
    func claim() -> Share? {
        state.withLock { state in
            guard state.next <= last, goesOn else { return nil }
            let count = RecordID(state.counts[state.claimed % Self.inFlightMax])
            let end = last - state.next < count ? last : state.next + count - 1
            defer {
                state.next = end + 1
                state.claimed += 1
            }
            return Share(place: state.claimed, numbers: state.next...end)
        }
    }

    /// Whether no worker has failed; checked after every object.
    var goesOn: Bool { turn.load(ordering: .relaxed) != Self.stopped }

    /// Whether all shares before one are saved, without waiting.
    func isTurn(of share: Share) -> Bool { turn.load(ordering: .acquiring) == share.place }

    /// Waits until all shares before one are saved.
    ///
    /// - Returns: False if one of them has failed.
    func waitForTurn(of share: Share) -> Bool {
        if isTurn(of: share) { return true }
        let own = DispatchSemaphore(value: 0)
        let waits = state.withLock { state in
            guard goesOn, !isTurn(of: share) else { return false }
            state.waiting[share.place] = own
            return true
        }
        if waits { own.wait() }
        return isTurn(of: share)
    }

    /// Ends the turn of a share that was saved.
    ///
    /// - Parameters:
    ///   - share: The share.
    ///   - savedByteCount: Bytes of its new values.
    func end(_ share: Share, savedByteCount: Int) {
        let count = share.numbers.count
        // Bounded, so that a share with much larger objects than those before has not many times the bytes.
        let most = min(count * 4, countMax)
        let next = savedByteCount == 0 ? most : Int(Double(count) * Double(byteCount) / Double(savedByteCount))
        state.withLock { state in
            state.counts[share.place % Self.inFlightMax] = max(min(next, most), min(Self.countMin, countMax))
            turn.store(share.place + 1, ordering: .releasing)
            return state.waiting.removeValue(forKey: share.place + 1)
        }?.signal()
    }

    /// Stops all workers, because a share cannot be saved in its turn.
    func stop(_ failure: any Error) {
        let waiting = state.withLock { state in
            state.failure = failure
            turn.store(Self.stopped, ordering: .releasing)
            defer { state.waiting = [:] }
            return state.waiting.values.map { $0 }
        }
        for worker in waiting { worker.signal() }
    }

    /// The error of the first share that could not be saved.
    var failure: (any Error)? { state.withLock { $0.failure } }
}
