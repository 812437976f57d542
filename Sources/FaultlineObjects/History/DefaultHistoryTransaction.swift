public import Foundation
internal import FaultlineStore

/// The changes of one save.
///
/// They are kept in their stored form, a few bytes for objects that were inserted together, and decoded on access.
public struct DefaultHistoryTransaction: HistoryTransaction {
    let stored: StoredTransaction
    let models: HistoryModels

    /// When it was saved, by the machine's clock; never before an earlier save.
    public var timestamp: Date { Date(timeIntervalSince1970: Double(stored.microseconds) / 1_000_000) }
    /// Each object that was inserted, updated or deleted, once; objects of entities that the schema no longer has are
    /// left out.
    ///
    /// - Complexity: Makes an element for each object each time.
    public var changes: [HistoryChange] { models.changes(of: stored) }
    /// Identifies the transaction: fetch the transactions after it.
    public var token: DefaultHistoryToken {
        DefaultHistoryToken(store: models.storeIdentifier, number: stored.number, microseconds: stored.microseconds)
    }
    /// Ascending in the order of the saves, with gaps.
    public var transactionIdentifier: Int64 { Int64(clamping: stored.number) }
    /// The identifier of the store.
    public var storeIdentifier: String { models.storeIdentifier }
    /// The `author` of the saving context.
    public var author: String? { stored.author }
    /// Empty: a process of Linux has no bundle.
    public var bundleIdentifier: String { "" }
    /// The number of the process that saved.
    public var processIdentifier: String { "\(stored.process)" }
    /// The number of the save in its store, equal to `ModelContext.NotificationKey.queryGeneration`.
    public var queryGeneration: UInt64 { stored.sequence }
    /// The transaction's identifier.
    public var id: Int64 { transactionIdentifier }

    /// Whether both are the same transaction of the same store.
    public static func == (left: Self, right: Self) -> Bool { left.token == right.token }

    /// Hashes the properties that `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(stored.number) }
}

/// An object that a save has inserted.
public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert {
    /// The position among the changes of the transaction, from 1.
    public let changeIdentifier: Int64
    /// The transaction.
    public let transactionIdentifier: Int64
    /// The object.
    public let changedPersistentIdentifier: PersistentIdentifier
}

/// An object that a save has updated.
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate {
    /// The position among the changes of the transaction, from 1.
    public let changeIdentifier: Int64
    /// The transaction.
    public let transactionIdentifier: Int64
    /// The object.
    public let changedPersistentIdentifier: PersistentIdentifier
    /// Attributes and relationships that were set; empty for objects without a class of their own.
    ///
    /// If an entity has more than 64 properties, those from the 64th on are all included if one of them was set.
    public let updatedAttributes: [any PartialKeyPath<Model> & Sendable]
    /// The same by name.
    public let updatedPropertyNames: [String]
}

/// An object that a save has deleted.
public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete {
    /// The position among the changes of the transaction, from 1.
    public let changeIdentifier: Int64
    /// The transaction.
    public let transactionIdentifier: Int64
    /// The object.
    public let changedPersistentIdentifier: PersistentIdentifier
    /// Its last values, of the attributes that the schema preserves.
    public let tombstone: HistoryTombstone<Model>
}
