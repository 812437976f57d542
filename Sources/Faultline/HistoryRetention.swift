internal import Dispatch
internal import FaultlineLog
package import FaultlineStore
internal import Foundation
internal import Synchronization

/// Deletes from a store's history what is older than a container keeps it: soon after the container was made, then every
/// hour, never in the way of a save for longer than one bounded transaction takes.
///
/// It stands back where the state before a migration is kept: a rollback would meet transactions behind it. What fails
/// is tried again an hour later.
package final class HistoryRetention: Sendable {
    private let store: RowStore
    private let microseconds: UInt64?
    private let queue = DispatchQueue(label: "faultline.history", qos: .background)
    private let isStopped = Atomic<Bool>(false)

    private static let delay = DispatchTimeInterval.seconds(5)
    private static let interval = DispatchTimeInterval.seconds(3_600)

    /// Prepares the job.
    ///
    /// - Parameters:
    ///   - store: The store, open for writing.
    ///   - age: From which on a transaction is deleted; nil where only what a migration left is.
    package init(_ store: RowStore, age: Duration?) {
        self.store = store
        microseconds = age.map { age in
            let (seconds, attoseconds) = age.components
            return seconds < 0
                ? 0
                : UInt64(clamping: seconds).multipliedClamped(by: 1_000_000) + UInt64(attoseconds / 1_000_000_000_000)
        }
    }

    /// Prepares the job that options ask for; nil if they ask for none.
    convenience init?(_ store: RowStore, _ history: StoreOptions.History) {
        switch history {
        case .kept(let age): self.init(store, age: age)
        case .unlimited: self.init(store, age: nil)
        case .off: return nil
        }
    }

    /// Lets the job run by itself.
    func start() { wait(Self.delay) }

    /// Ends the job; nobody waits for the transaction that is under way.
    func stop() { isStopped.store(true, ordering: .releasing) }

    private var hasStopped: Bool { isStopped.load(ordering: .acquiring) }

    private func wait(_ interval: DispatchTimeInterval) {
        queue.asyncAfter(deadline: .now() + interval) { [weak self] in
            guard let self, !hasStopped else { return }
            try? run(nowMicroseconds: UInt64(max(Date().timeIntervalSince1970, 0) * 1_000_000))
            wait(Self.interval)
        }
    }

    /// Deletes what is too old now.
    ///
    /// - Parameter now: Microseconds since 1970.
    /// - Throws: What the store says.
    package func run(nowMicroseconds now: UInt64) throws {
        guard try store.log.keptState() == nil else { return }
        var trimming = HistoryTrimming(log: store.log)
        let oldest = microseconds.map { now > $0 ? now - $0 : 0 }
        try trimming.trim(before: oldest) { hasStopped }
    }
}

extension UInt64 {
    fileprivate func multipliedClamped(by other: UInt64) -> UInt64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max / 2 : Swift.min(product, .max / 2)
    }
}
