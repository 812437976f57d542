internal import Dispatch
internal import FaultlineLog
package import FaultlineStore
internal import Foundation
internal import Synchronization

/// Deletes entries of a store's history that are older than its container keeps them: soon after the container was
/// made, then every hour.
///
/// It never holds up a save for longer than one bounded transaction takes.
/// It deletes nothing while the state before a migration is kept: a rollback would meet transactions after it. After a
/// failure it tries again an hour later.
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
    ///   - age: The age from which a transaction is deleted; nil deletes only the remains of a migration.
    package init(_ store: RowStore, age: Duration?) {
        self.store = store
        microseconds = age.map { age in
            let (seconds, attoseconds) = age.components
            return seconds < 0
                ? 0
                : UInt64(clamping: seconds).multipliedClamped(by: 1_000_000) + UInt64(attoseconds / 1_000_000_000_000)
        }
    }

    /// Prepares the job that options request; nil if they request none.
    convenience init?(_ store: RowStore, _ history: StoreOptions.History) {
        switch history {
        case .kept(let age): self.init(store, age: age)
        case .unlimited: self.init(store, age: nil)
        case .off: return nil
        }
    }

    /// Starts the job.
    func start() { wait(Self.delay) }

    /// Ends the job; it does not wait for the transaction that is under way.
    func stop() { isStopped.store(true, ordering: .releasing) }

    private var hasStopped: Bool { isStopped.load(ordering: .acquiring) }

    private func wait(_ interval: DispatchTimeInterval) {
        queue.asyncAfter(deadline: .now() + interval) { [weak self] in
            guard let self, !hasStopped else { return }
            try? run(nowMicroseconds: UInt64(max(Date().timeIntervalSince1970, 0) * 1_000_000))
            wait(Self.interval)
        }
    }

    /// Deletes the entries that are too old now.
    ///
    /// - Parameter now: Microseconds since 1970.
    /// - Throws: The error of the store.
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
