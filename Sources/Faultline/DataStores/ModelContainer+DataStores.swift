public import FaultlineModel
public import FaultlineObjects

/// Containers with data stores of the user's.
extension ModelContainer {
    /// Opens a data store for some model classes, and all classes that their relationships lead to.
    ///
    ///     let container = try ModelContainer(for: Trip.self, configurations: JSONStoreConfiguration(fileURL: url))
    ///
    /// - Throws: As the form that takes a list of configurations.
    /// - Complexity: As the form that takes a list of configurations.
    @_disfavoredOverload
    public convenience init(
        for forTypes: any PersistentModel.Type..., configurations: any DataStoreConfiguration...
    ) throws {
        try self.init(for: Schema.checked(forTypes, version: Schema.Version(1, 0, 0)), configurations: configurations)
    }

    /// Opens a data store for a schema of model classes.
    ///
    /// - Throws: `SwiftDataError.duplicateConfiguration` for more than one configuration; `SwiftDataError.unknownSchema`
    ///   for a schema without classes; the errors of the configuration and of the store.
    /// - Complexity: That of making the store: no object is fetched.
    @_disfavoredOverload
    public convenience init(for givenSchema: Schema, configurations: [any DataStoreConfiguration]) throws {
        switch configurations.first {
        case let configuration? where configurations.count == 1:
            try self.init(givenSchema, ofOneStore: configuration)
        default: try self.init(of: ContainerRequest(givenSchema, nil, configurations))
        }
    }

    /// Opens the one store of a configuration.
    convenience init(_ schema: Schema, ofOneStore configuration: any DataStoreConfiguration) throws {
        if let own = configuration as? ModelConfiguration {
            try self.init(ContainerRequest(schema, nil, [own]))
        } else {
            try self.init(schema, inFrontOf: configuration)
        }
    }

    private convenience init<Configuration: DataStoreConfiguration>(
        _ schema: Schema, inFrontOf configuration: Configuration
    ) throws {
        guard Schema.modelTypes(of: schema) != nil, !schema.entities.isEmpty else {
            throw SwiftDataError.unknownSchema.explained(
                "A data store of your own needs a schema of model classes. Make the container for them.")
        }
        let workingCopy = ModelConfiguration(configuration.name, isStoredInMemoryOnly: true)
        let request = try ContainerRequest(schema, nil, [workingCopy])
        try ContainerRequest.check(configuration.schema, isIn: request.schema)
        try self.init(request, inFrontOf: OpenedDataStore(configuration, request.schema))
    }
}
