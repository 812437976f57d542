internal import FaultlineStore

extension ContextCore {
    /// Inserts a new object, which has the number of a deleted one once it is saved, unless there is one.
    ///
    /// - Returns: Nil if it cannot be inserted.
    func revive(_ key: StoredKey) -> ObjectHandle? {
        let home = homes[key.ordinal]
        if let made = rules.restored[key].flatMap({ pending.insertedObject($0) }) { return made }
        guard let type = home.type else { return nil }
        let object = type.makeFault()
        _ = type.coreOffset(of: object)
        guard let handle = home.handle(of: object) else { return nil }
        // Its class was told of the insertion when it was first made.
        handle.core.pointee.insert(.awake)
        guard ObjectInsertion(self).insert(handle) else { return nil }
        rules.restore(key, as: handle.core.pointee.number)
        return handle
    }
}
