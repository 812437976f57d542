/// A value that a data store can keep as a property of an object.
public typealias DataStoreSnapshotValue = Codable & Sendable

/// The values of an object, as a data store gets and returns them.
///
/// `DefaultSnapshot` does for most stores. A snapshot type of your own encodes its values with the keys
/// `DataStoreSnapshotCodingKey`, by which a context reads them.
public protocol DataStoreSnapshot: Codable, Sendable {
    /// The identity of the object.
    var persistentIdentifier: PersistentIdentifier { get }

    /// Copies the values of an object.
    ///
    /// - Parameters:
    ///   - backingData: The object.
    ///   - relatedBackingDatas: Objects that it is related to, for stores that keep them together.
    init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData])

    /// A copy with another identity.
    ///
    /// - Parameters:
    ///   - persistentIdentifier: The new identity.
    ///   - remappedIdentifiers: New identities of related objects, by the old ones; nil for none.
    /// - Returns: The copy.
    func copy(
        persistentIdentifier: PersistentIdentifier, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> Self
}

extension DataStoreSnapshot {
    /// A copy with another identity, with the same related objects.
    public func copy(persistentIdentifier: PersistentIdentifier) -> Self {
        copy(persistentIdentifier: persistentIdentifier, remappedIdentifiers: nil)
    }
}

/// A key of an encoded snapshot: its identity, or a property of its class by name.
public enum DataStoreSnapshotCodingKey: CodingKey, Hashable, Sendable {
    /// The identity of the object.
    case persistentIdentifier
    /// The property with a name.
    case modeledProperty(String)

    /// The key with a name.
    public init?(stringValue: String) {
        self = stringValue == "persistentIdentifier" ? .persistentIdentifier : .modeledProperty(stringValue)
    }

    /// Nil: keys are names.
    public init?(intValue: Int) { nil }

    /// The name of the property; "persistentIdentifier" for the identity.
    public var stringValue: String {
        switch self {
        case .persistentIdentifier: "persistentIdentifier"
        case .modeledProperty(let name): name
        }
    }

    /// Nil: keys are names.
    public var intValue: Int? { nil }
}
