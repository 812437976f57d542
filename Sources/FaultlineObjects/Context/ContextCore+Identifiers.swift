internal import FaultlineLog
internal import FaultlineStore

extension ContextCore {
    /// The object of an identifier: registered, unsaved, or a new fault; nil if its entity is unknown here.
    func model(for identifier: PersistentIdentifier) -> (any PersistentModel)? {
        guard let home = home(named: identifier.entityName) else { return nil }
        if identifier.isTemporary {
            if let handle = insertedObject(identifier.number) { return handle.object as? any PersistentModel }
            // No such object: a stand-in that was never saved.
            return home.type?.makeFault() as? any PersistentModel
        }
        guard identifier.storeID == store.log.storeID, identifier.number != 0,
            identifier.number <= ModelCore.numberMask
        else {
            // Another store's object, or no number at all: a stand-in, too.
            return home.type?.makeFault() as? any PersistentModel
        }
        guard let object = anyObject(identifier.number, home), let type = home.type else { return nil }
        return type.asModel(object)
    }

    func registeredModel(for identifier: PersistentIdentifier) -> AnyObject? {
        guard let home = home(named: identifier.entityName) else { return nil }
        if identifier.isTemporary { return insertedObject(identifier.number)?.object }
        guard identifier.storeID == store.log.storeID, identifier.number <= ModelCore.numberMask else { return nil }
        return registeredObject(identifier.number, home)
    }
}
