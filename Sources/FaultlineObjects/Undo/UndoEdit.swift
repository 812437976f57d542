internal import FaultlineStore

/// One change that takes back another.
enum UndoEdit {
    /// Inserts an object again that has left the context before it was saved.
    case insert(ObjectHandle, UndoValues)
    /// Keeps an object that was to be deleted; makes it again if that was saved.
    case keep(ObjectHandle, UndoValues)
    /// Removes an object that was inserted; no delete rule reaches others.
    case remove(ObjectHandle)
    /// Deletes an object again, by its rules.
    case delete(ObjectHandle)
    /// Sets an attribute or a to-one relationship.
    case set(ObjectHandle, slot: Int, UndoValues)
    /// Gives a collection the members that it had, in their order.
    case setMembers(ObjectHandle, slot: Int, [UndoValues.Target])
    /// Removes members that have joined a collection of links.
    case removeMembers(ObjectHandle, slot: Int, [ObjectHandle])
}
