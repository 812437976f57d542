internal import Dispatch
internal import FaultlineLog
public import FaultlineObjects
internal import FaultlineStore

// Whether saves are on the disk.

extension ModelContainer {
    /// Waits until all saves of the store so far, of all its contexts, are on the disk.
    ///
    /// With `StoreOptions.Durability.sync` a save is on the disk when it returns. With `.async` this call makes the
    /// saves so far survive a power cut; one synchronization serves all waiting callers. Do not call it on the threads
    /// of Swift's concurrency: use the form with `await` there.
    ///
    /// - Throws: `StorageError`: `outcomeUnknown` if the disk failed before; `readOnly`, `closed`.
    /// - Complexity: One synchronization of the disk, or none if all saves are durable.
    public func synchronize() throws { try waitUntilDurable() }

    /// Waits until all saves so far are on the disk, without blocking a thread of Swift's concurrency.
    ///
    /// Cancelling the task does not stop the synchronization.
    ///
    /// - Throws: As the form that blocks.
    /// - Complexity: As the form that blocks.
    public func synchronize() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Self.waiting.async { continuation.resume(with: Result { try self.waitUntilDurable() }) }
        }
    }

    private func waitUntilDurable() throws {
        if let parts {
            _ = try parts.forEachWritable { try $0.waitUntilDurable() }
            return
        }
        try StorageError.translating { try rowStore.log.waitUntilDurable() }
    }

    /// The queue on which tasks' waits block: serial, because one wait covers the next one too.
    private static let waiting = DispatchQueue(label: "faultline.synchronize")

    /// Whether a save whose error reported an unknown outcome is in the store (`StorageError.transaction`).
    ///
    /// Ask after the store was opened again, and before much is saved: saves whose log compaction has dropped are not
    /// found.
    ///
    /// - Complexity: Reads the log from its newest part backwards until the save is found, or all of it if it is
    ///   missing.
    /// - Throws: `StorageError` if the log cannot be read.
    public func transactionLanded(_ transaction: TransactionIdentifier) throws -> Bool {
        if let parts { return try parts.containers.contains { try $0.transactionLanded(transaction) } }
        return try StorageError.translating { try rowStore.log.landed(transaction.transactionID) }
    }
}
