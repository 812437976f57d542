public import FaultlineModel

extension ManagedObject {
    /// Makes a new object of an entity and inserts it: attributes with a default have it, the others are nil or unset.
    ///
    /// A required attribute without a default must be set before the next save. No initializer of a model class is
    /// called.
    ///
    /// - Parameters:
    ///   - entity: An entity of the context's container; another one makes the next save throw.
    ///   - context: The context that the object is inserted into.
    public convenience init(entity: Schema.Entity, insertInto context: ModelContext) {
        if let known = try? context.core(named: entity.name).entity(named: entity.name), known.isOf(entity) {
            self.init(known, insertInto: context)
        } else {
            // The context refuses an object of a type that it does not know.
            self.init(standInOf: ModelType.dynamic(entity))
            ObjectInsertion(context.core(named: entity.name)).insert(ObjectHandle(self))
        }
    }

    /// Makes a new object of a context's entity and inserts it.
    convenience init(_ entity: NamedEntity, insertInto context: ModelContext) {
        let core = context.core(named: entity.name)
        InsertSpilling(core).runIfDue()
        let insertion = ObjectInsertion(core)
        guard !entity.type.isDynamic, let handle = insertion.make(entity.home, ofClass: entity.place) else {
            self.init(standInOf: entity.type, inClass: entity.place)
            insertion.insert(ObjectHandle(self))
            return
        }
        handle.core.pointee.extra.isMadeByName = true
        self.init(viewOf: handle)
        insertion.insert(handle)
    }
}
