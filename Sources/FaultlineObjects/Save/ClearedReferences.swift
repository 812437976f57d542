internal import FaultlineLog
internal import FaultlineStore

/// References of stored objects that the delete rules of a save have cleared.
struct ClearedReferences {
    /// Objects that are alive and unchanged, with the slot that was cleared.
    var living: [(handle: ObjectHandle, slot: Int)] = []
    /// How many rows were changed, by ordinal of the entity.
    var counts: [Int: Int] = [:]
    /// These rows; empty unless a notification lists them.
    var rows: [(number: RecordID, entity: EntityStorage)] = []
}
