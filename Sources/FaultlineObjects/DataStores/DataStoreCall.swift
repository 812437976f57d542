package import FaultlineModel

/// A call of a data store that is under way: what its code may ask the library about.
package final class DataStoreCall: Sendable {
    /// The call in whose code the thread or task is; nil outside.
    @TaskLocal package static var current: DataStoreCall?

    private let schema: Schema
    /// The identifier of the data store; nil while it is made, and may use any.
    private let identifier: String?

    package init(_ schema: Schema, identifier: String?) {
        self.schema = schema
        self.identifier = identifier
    }

    /// The properties of an entity by name; nil if the schema lacks the entity.
    func properties(ofEntity name: String) -> [String: any SchemaProperty]? {
        schema.entitiesByName[name].map { DefaultSnapshot.properties(of: $0) }
    }

    /// Whether the data store may use an identifier that the process has not met.
    func mayIntroduce(_ identifier: String) -> Bool { self.identifier == nil || self.identifier == identifier }
}
