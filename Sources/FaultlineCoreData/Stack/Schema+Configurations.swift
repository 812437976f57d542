public import FaultlineModel

// The configurations of a model: its entities, divided over stores.

extension Schema {
    /// The names of the configurations, in alphabetical order.
    ///
    /// - Complexity: O(n log n) for n configurations.
    public var configurations: [String] { entityNamesByConfiguration.keys.sorted() }

    /// The entities of a configuration; nil if there is none of the name.
    ///
    /// - Complexity: O(n) for n entities.
    public func entities(forConfigurationName configurationName: String) -> [Schema.Entity]? {
        entityNamesByConfiguration[configurationName].map { $0.compactMap { entitiesByName[$0] } }
    }

    /// Sets the entities of a configuration, before the model is shared.
    ///
    ///     model.setEntities([album, photo], forConfigurationName: "Catalog")
    ///
    /// A configuration is no part of the stored schema: stores of one model under other configurations have the same
    /// fingerprint.
    ///
    /// - Complexity: O(n) for n entities.
    public func setEntities(_ entities: [Schema.Entity], forConfigurationName configurationName: String) {
        entityNamesByConfiguration[configurationName] = entities.map(\.name)
    }
}
