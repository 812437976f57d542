public import FaultlineModel

extension ManagedObject {
    /// Makes a new object of an entity and inserts it: attributes with a default have it, the others are nil or unset.
    ///
    /// A required attribute without a default must be set before the next save.
    ///
    /// - Parameters:
    ///   - entity: An entity of the context's container; another one makes the next save throw.
    ///   - context: The context that the object is inserted into.
    public convenience init(entity: Schema.Entity, insertInto context: ModelContext) {
        let known = context.core.dynamicType(named: entity.name)
        // An entity of another context gets a type that this context will refuse.
        let type = known.flatMap { $0.isOf(entity) ? $0 : nil } ?? ModelType.dynamic(entity)
        self.init(type, insertInto: context)
    }

    /// Makes a new object of a context's entity and inserts it.
    convenience init(_ type: ModelType, insertInto context: ModelContext) {
        self.init(standInOf: type)
        InsertSpilling(context.core).runIfDue()
        ObjectInsertion(context.core).insert(ObjectHandle(self))
    }
}
