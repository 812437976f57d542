/// One object that a transaction has changed.
public enum HistoryChange: Sendable {
    /// The object was inserted.
    case insert(any HistoryInsert)
    /// The object was updated; also an object that an insert has replaced.
    case update(any HistoryUpdate)
    /// The object was deleted, by code or by a delete rule.
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

/// The common properties of all changes of an object.
public protocol HistoryObjectChange: Sendable {
    /// The identifier of a change within its transaction.
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
    /// The identifier of the transaction.
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable

    /// The position among the changes of the transaction.
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
    /// Its last values, of the attributes that the schema preserves.
    var tombstone: HistoryTombstone<Model> { get }
}
