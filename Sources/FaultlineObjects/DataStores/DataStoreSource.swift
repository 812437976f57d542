/// A data store of the user's, without its types: the requests of a container.
///
/// Called by one thread at a time.
package protocol DataStoreSource: AnyObject {
    /// The identifier that the store gives its objects.
    var identifier: String { get }

    /// Fetches snapshots; throws `DataStoreError.preferInMemoryFilter` or `.preferInMemorySort` if it cannot select.
    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> FoundSnapshots

    /// Counts objects; errors as `fetch`.
    func count<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int

    /// Identifiers of objects; errors as `fetch`.
    func identifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]

    /// Snapshots that the store has at hand, of some of the objects.
    func cachedSnapshots(_ identifiers: [PersistentIdentifier], _ state: EditingState) throws -> [DefaultSnapshot]

    /// Saves changes: all of them, or none.
    func save(_ changes: DataStoreChanges, _ state: EditingState) throws -> SavedSnapshots

    /// Deletes the objects that satisfy a predicate; false if the store has no such call.
    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws -> Bool

    /// Deletes all objects.
    func erase() throws

    /// Says that a context begins to use the store.
    func begin(_ state: EditingState)

    /// Says that a context has ended.
    func end(_ state: EditingState)
}

/// The snapshots that a data store has found.
package struct FoundSnapshots {
    /// Those of the objects that were asked for, in their order.
    package var found: [DefaultSnapshot]
    /// Those of objects that they are related to.
    package var related: [DefaultSnapshot]

    package init(found: [DefaultSnapshot], related: [DefaultSnapshot]) {
        self.found = found
        self.related = related
    }
}

/// The changes of a save, for a data store.
package struct DataStoreChanges {
    /// Objects with temporary identifiers.
    package var inserted: [Change] = []
    package var updated: [Change] = []
    package var deleted: [Change] = []

    /// New objects that the data store knows under other identifiers.
    package var replaced: [PersistentIdentifier: PersistentIdentifier]

    init(replaced: [PersistentIdentifier: PersistentIdentifier]) { self.replaced = replaced }

    /// An object, with its values.
    package struct Change {
        package let object: any PersistentModel
        package let values: DefaultSnapshot
        /// Whether the values are not those of the object alone: it takes the place of a stored one.
        package let isCombined: Bool
    }
}

/// The answer of a data store to a save.
package struct SavedSnapshots {
    /// The identifiers of inserted objects, by their temporary ones.
    package var remapped: [PersistentIdentifier: PersistentIdentifier]
    /// Values that the store has changed.
    package var changed: [DefaultSnapshot]

    package init(remapped: [PersistentIdentifier: PersistentIdentifier], changed: [DefaultSnapshot]) {
        self.remapped = remapped
        self.changed = changed
    }
}
