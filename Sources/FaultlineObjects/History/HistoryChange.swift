/// One object that a transaction has changed.
public enum HistoryChange: Sendable {
    /// The object was inserted.
    case insert(any HistoryInsert)
    /// The object was updated; also one whose place an insert took.
    case update(any HistoryUpdate)
    /// The object was deleted, by itself or by a delete rule.
    case delete(any HistoryDelete)

    /// The object.
    public var changedPersistentIdentifier: PersistentIdentifier {
        switch self {
        case .insert(let change): change.changedPersistentIdentifier
        case .update(let change): change.changedPersistentIdentifier
        case .delete(let change): change.changedPersistentIdentifier
        }
    }
}

/// What all changes of an object say.
public protocol HistoryObjectChange: Sendable {
    /// What names a change within its transaction.
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
    /// What names the transaction.
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable

    /// The place among the changes of the transaction.
    var changeIdentifier: ChangeIdentifier { get }
    /// The transaction.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The object.
    var changedPersistentIdentifier: PersistentIdentifier { get }
}

/// An object that was inserted.
public protocol HistoryInsert<Model>: HistoryObjectChange {
    /// The object's class.
    associatedtype Model: PersistentModel
}

/// An object that was updated.
public protocol HistoryUpdate<Model>: HistoryObjectChange {
    /// The object's class.
    associatedtype Model: PersistentModel
    /// Attributes and relationships that were set.
    var updatedAttributes: [any PartialKeyPath<Model> & Sendable] { get }
    /// The same by name; objects without a class of their own have only these.
    var updatedPropertyNames: [String] { get }
}

/// An object that was deleted.
public protocol HistoryDelete<Model>: HistoryObjectChange {
    /// The object's class.
    associatedtype Model: PersistentModel
    /// Its last values, as far as they were to be preserved.
    var tombstone: HistoryTombstone<Model> { get }
}
