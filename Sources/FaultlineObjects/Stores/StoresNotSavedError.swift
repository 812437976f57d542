/// Which stores a save over several has saved, and which not.
///
///     do { try context.save() } catch let error as StoresNotSavedError {
///         for store in error.unsaved { logger.error("\(store.name): \(store.error)") }
///         try context.save()  // saves the stores that are left, once the cause is removed
///     }
///
/// Each store's changes are saved in one transaction, or not at all. The saved ones are in their stores; those of the
/// other stores stay unsaved changes of the context. All rules of all stores are checked before any store is saved: so
/// after a rule was broken nothing is saved, and this error means that a disk, or a store of your own, has failed.
public struct StoresNotSavedError: Error, Sendable, CustomStringConvertible {
    /// A store that was saved.
    public struct Saved: Hashable, Sendable {
        /// The name of its configuration.
        public let name: String
        /// The number of the transaction in its store.
        public let transaction: UInt64
    }

    /// A store whose changes are unsaved still.
    public struct Unsaved: Sendable {
        /// The name of its configuration.
        public let name: String
        /// Why; nil if another store's error stopped the save before.
        public let error: (any Error)?
    }

    /// The stores that were saved.
    public let saved: [Saved]
    /// The stores that were not.
    public let unsaved: [Unsaved]

    /// All stores, and the errors.
    public var description: String {
        let written = saved.map { "\($0.name) (transaction \($0.transaction))" }.joined(separator: ", ")
        let failed = unsaved.map { "\($0.name): \($0.error.map { "\($0)" } ?? "not begun")" }
        return "Saved: \(written.isEmpty ? "no store" : written). Not saved: \(failed.joined(separator: "; "))"
    }
}

extension StoresNotSavedError: SwiftDataNamed {
    package func isNamed(_ error: SwiftDataError) -> Bool {
        unsaved.contains { $0.error.map { error ~= $0 } ?? false }
    }
}
