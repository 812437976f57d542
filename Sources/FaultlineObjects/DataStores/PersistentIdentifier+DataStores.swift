// Identifiers of objects of data stores: numbers stand for the stores' own keys.

extension PersistentIdentifier {
    /// The data store that the object is of, and its key there; nil for objects of other stores.
    ///
    /// The key is nil if it was forgotten: it came from a decoded identifier, and too many others were decoded since.
    var dataStore: (keys: DataStoreKeys, key: String?)? {
        DataStoreKeys.find(storeID).map { ($0, $0.key(of: number, entityName)) }
    }

    /// The identifier of an object of a data store, by its key there.
    ///
    /// - Returns: Nil if no object can have the key, or the name of the entity is too long.
    static func ofDataStore(_ keys: DataStoreKeys, _ entityName: String, key: String) -> PersistentIdentifier? {
        guard !key.isEmpty, key.utf8.count <= DataStoreKeys.keyByteCountMax, entityName.utf8.count <= nameByteCountMax
        else { return nil }
        let number = keys.number(of: key, entityName, isOfStore: DataStoreCall.current != nil)
        return PersistentIdentifier(storeID: keys.storeID, entityName: entityName, number: number)
    }

    /// Finds the data store of a name that comes from outside; the first call of a data store may introduce one.
    static func dataStore(named identifier: String) -> DataStoreKeys? {
        if let found = DataStoreKeys.find(identifier) { return found }
        // The objects of a store of this library have numbers.
        guard DataStoreKeys.ownStoreID(identifier) == nil, !identifier.isEmpty,
            identifier.utf8.count <= DataStoreKeys.keyByteCountMax, let call = DataStoreCall.current,
            call.mayIntroduce(identifier)
        else { return nil }
        return DataStoreKeys.of(identifier)
    }
}
