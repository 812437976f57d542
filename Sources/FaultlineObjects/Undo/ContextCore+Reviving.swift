internal import FaultlineStore

extension ContextCore {
    /// Inserts a new object, which has the number of a deleted one once it is saved, unless there is one.
    ///
    /// - Parameters:
    ///   - key: The deleted object.
    ///   - place: The position of its class in a table with several.
    /// - Returns: Nil if it cannot be inserted.
    func revive(_ key: StoredKey, ofClass place: Int = 0) -> ObjectHandle? {
        let home = homes[key.ordinal]
        if let made = rules.restored[key].flatMap({ pending.insertedObject($0) }) { return made }
        // Its class was told of the insertion when it was first made.
        guard let handle = ObjectInsertion(self).insertAwake(home, ofClass: place) else { return nil }
        rules.restore(key, as: handle.core.pointee.number)
        return handle
    }
}
