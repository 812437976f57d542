package import FaultlineModel
internal import Synchronization

/// A turn of a data store that is under way: its code may ask for the types of properties, and introduce identifiers.
package final class DataStoreCall: Sendable {
    /// The turn in whose code the thread or task is; nil outside.
    ///
    /// Tasks that the code has started may outlive the turn.
    @TaskLocal package static var current: DataStoreCall?

    private let schema: Schema
    /// The identifier of the data store; nil while it is made, and may use any.
    private let identifier: String?
    /// The owner of the turn.
    private let owner: ObjectIdentifier?
    private let isUnderWay = Atomic<Bool>(true)

    package init(_ schema: Schema, identifier: String?, owner: AnyObject? = nil) {
        self.schema = schema
        self.identifier = identifier
        self.owner = owner.map { ObjectIdentifier($0) }
    }

    /// Ends the turn.
    func end() { isUnderWay.store(false, ordering: .releasing) }

    /// Whether it is a turn of an owner that has not ended.
    func isUnderWay(of owner: AnyObject) -> Bool {
        self.owner == ObjectIdentifier(owner) && isUnderWay.load(ordering: .acquiring)
    }

    /// The properties of an entity by name; nil if the schema lacks the entity.
    func properties(ofEntity name: String) -> [String: any SchemaProperty]? {
        schema.propertiesByName(ofEntity: name)
    }

    /// Whether an entity is another one, or inherits from it.
    func isEntity(_ name: String, _ other: String) -> Bool {
        var next: String? = name
        while let name = next, name != other { next = schema.entitiesByName[name]?.superentityName }
        return next != nil
    }

    /// Whether the data store may use an identifier that the process has not met.
    func mayIntroduce(_ identifier: String) -> Bool { self.identifier == nil || self.identifier == identifier }
}

extension Schema {
    /// The properties of an entity by name; nil if the schema lacks the entity.
    func propertiesByName(ofEntity name: String) -> [String: any SchemaProperty]? {
        entitiesByName[name].map { entity in
            Dictionary(entity.properties.map { ($0.name, $0) }) { first, _ in first }
        }
    }
}
