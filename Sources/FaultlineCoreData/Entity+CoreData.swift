public import FaultlineModel
public import FaultlineObjects

extension Schema.Entity {
    /// Makes a new object of an entity and inserts it.
    ///
    ///     let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: manager.destinationContext)
    ///
    /// Never traps. If the context has no objects without a class of that entity, the result is an object in no context,
    /// which takes no value, and the next save of the context throws `SwiftDataError.unknownSchema` with the nearest
    /// name; in a migration the call of the policy fails with that error when it returns.
    ///
    /// - Complexity: O(1).
    public static func insertNewObject(
        forEntityName entityName: String, into context: ModelContext
    ) -> ManagedObject {
        do { return try context.insertNewObject(forEntityName: entityName) } catch {
            context.refuse(error)
            return ManagedObject(entity: Schema.Entity(entityName), insertInto: context)
        }
    }

    /// The entity of a context that has a name; nil if it has none, or if its objects have a class.
    ///
    /// - Complexity: O(1).
    public static func entity(forEntityName entityName: String, in context: ModelContext) -> Schema.Entity? {
        context.entity(named: entityName)
    }
}
