/// The values of an object by the names of its properties: the snapshots of most data stores.
///
///     for snapshot in request.updated { snapshots[snapshot.persistentIdentifier] = snapshot }
///     try JSONEncoder().encode(Array(snapshots.values)).write(to: file)
///
/// An encoded snapshot has the identity under "persistentIdentifier", and each property under its name, in the form that
/// the property's type encodes itself in. It can be decoded while a container calls its data store, because the types of
/// the properties are those of the container's schema.
public struct DefaultSnapshot: DataStoreSnapshot, Hashable {
    /// The identity of the object.
    public let persistentIdentifier: PersistentIdentifier
    /// The name of the object's class: that of the identity, or of one of its subclasses.
    public let entityName: String
    /// The values by the names of properties; large values and collections are among them.
    public let values: [String: PropertyValue]

    /// Makes a snapshot of values from elsewhere, such as the answer of a server.
    ///
    /// - Parameters:
    ///   - persistentIdentifier: The identity of the object.
    ///   - entityName: The name of its class; nil for that of the identity.
    ///   - values: Its values by the names of properties.
    public init(
        persistentIdentifier: PersistentIdentifier, entityName: String? = nil, values: [String: PropertyValue]
    ) {
        self.init(persistentIdentifier, entityName: entityName ?? persistentIdentifier.entityName, values: values)
    }

    init(_ identifier: PersistentIdentifier, entityName: String, values: [String: PropertyValue]) {
        persistentIdentifier = identifier
        self.entityName = entityName
        self.values = values
    }

    /// Copies the values of an object; values that cannot be read are missing.
    public init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]) {
        self =
            (try? DefaultSnapshot(reading: backingData))
            ?? DefaultSnapshot(
                backingData.persistentModelID ?? Self.noObject, entityName: "", values: [:])
    }

    /// The identifier of backing data of no object.
    private static let noObject = PersistentIdentifier(
        storeID: PersistentIdentifier.decodedTemporary, entityName: "", number: 1)

    /// Copies the values of an object.
    ///
    /// - Throws: The store's error if one of them cannot be read.
    package init(reading backingData: any BackingData) throws {
        guard let object = (backingData as? any ObjectBacking)?.object else {
            throw SwiftDataError.missingModelContext.explained(
                "A snapshot was made of backing data without an object. Make it of an object's persistentBackingData.")
        }
        try self.init(of: object)
    }

    /// Copies the values of an object.
    ///
    /// - Throws: The store's error if one of them cannot be read.
    package init(of object: some PersistentModel) throws {
        let copy = try object.valueCopy(including: [.collections, .largeValues])
        let name = ModelClasses.find(type(of: object))?._$modelType.entityName ?? copy.id.entityName
        self.init(copy.id, entityName: name, values: copy.values)
    }

    /// The value of a property; nil if the object has none of that name.
    ///
    /// - Complexity: O(1).
    public subscript(name: String) -> PropertyValue? { values[name] }

    /// A copy with another identity; related objects with a new identity get it.
    ///
    /// - Complexity: O(n) for n properties and members of collections.
    public func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]? = nil
    ) -> DefaultSnapshot {
        guard let remapped = remappedIdentifiers, !remapped.isEmpty else {
            return DefaultSnapshot(persistentIdentifier, entityName: entityName, values: values)
        }
        let moved = values.mapValues { (value: PropertyValue) -> PropertyValue in
            switch value {
            case .object(let target): .object(remapped[target] ?? target)
            case .objects(let targets): .objects(targets.map { remapped[$0] ?? $0 })
            default: value
            }
        }
        return DefaultSnapshot(persistentIdentifier, entityName: entityName, values: moved)
    }

    /// The objects that the relationships lead to.
    var related: [PersistentIdentifier] {
        values.values.flatMap(\.identifiers)
    }

    /// The values of a new object that takes the place of a stored one: a target that it has not set stays, and its
    /// members join those that are there.
    func keepingRelationships(of stored: DefaultSnapshot) -> DefaultSnapshot {
        let kept = values.merging(stored.values) { (new: PropertyValue, old: PropertyValue) -> PropertyValue in
            switch (new, old) {
            case (.null, .object): old
            case (.objects(let joined), .objects(let members)):
                .objects(members + joined.filter { [known = Set(members)] in !known.contains($0) })
            default: new
            }
        }
        return DefaultSnapshot(stored.persistentIdentifier, entityName: stored.entityName, values: kept)
    }
}

extension PropertyValue {
    /// The objects that a relationship leads to; none for an attribute.
    var identifiers: [PersistentIdentifier] {
        switch self {
        case .object(let target): [target]
        case .objects(let targets): targets
        default: []
        }
    }
}

/// Backing data of an object of this library.
protocol ObjectBacking {
    var object: (any PersistentModel)? { get }
}

extension ModelBackingData: ObjectBacking {
    var object: (any PersistentModel)? { held == nil ? model : nil }
}
