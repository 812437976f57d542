internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// A data store that was made for a container, before the container has its local copy.
struct OpenedDataStore {
    private let source: any DataStoreSource
    private let keys: DataStoreKeys?
    /// The store in the identifiers of its objects.
    let storeID: (UInt64, UInt64)

    /// Makes the data store of a configuration.
    ///
    /// - Throws: The errors of the configuration and of the store; `SwiftDataError.loadIssueModelContainer` if the store
    ///   has no identifier.
    init<Configuration: DataStoreConfiguration>(_ configuration: Configuration, _ schema: Schema) throws {
        try configuration.validate()
        var configuration = configuration
        if configuration.schema == nil { configuration.schema = schema }
        let call = DataStoreCall(schema, identifier: nil)
        let store = try DataStoreCall.$current.withValue(call) {
            try Configuration.Store(configuration, migrationPlan: nil)
        }
        let identifier = store.identifier
        guard !identifier.isEmpty, identifier.utf8.count <= 1_024 else {
            throw SwiftDataError.loadIssueModelContainer.explained(
                "The data store \(configuration.name) has an identifier of \(identifier.utf8.count) bytes. Give it one of 1 to 1,024 bytes."
            )
        }
        source = UntypedStore(store)
        if let own = DataStoreKeys.ownStoreID(identifier) {
            keys = nil
            storeID = own
        } else {
            let keys = DataStoreKeys.of(identifier)
            self.keys = keys
            storeID = keys.storeID
        }
    }

    /// The local copy of the store.
    func localCopy(_ schema: Schema, _ store: RowStore, _ types: [ModelType]) -> LocalCopy {
        LocalCopy(source, keys, schema, store: store, types: types)
    }
}
