package import FaultlineLog

/// How the saves of a context differ from those of an application that may write: in streamed and mapped stages.
package struct SaveRules {
    /// Whether nothing may be saved.
    let isReadOnly: Bool
    /// Says whether a new object may take over a large value of an old object, which it may once; nil where large values
    /// are copied.
    package var mayMoveBlob: ((UInt64) -> Bool)?
    /// Whether a new object is refused whose unique values a stored object has, rather than taking its place.
    package var refusesUpserts = false
    /// Whether the stage alone saves, in batches, with its progress in the same transaction.
    package var isSavedByStage = false
    /// Whether objects are saved before they are related: the rules of relationships are checked at the end of the stage.
    package var defersRelationshipRules = false
    /// Whether the least numbers of members are checked at the end of the stage: members come in several saves.
    package var defersLeastCounts = false
    /// Whether members that join a collection from their own side keep the positions that they were given, or, without
    /// one, stand in the order of their numbers.
    package var keepsGivenOrder = false
    /// Numbers that new objects will have, by temporary number.
    var chosenNumbers: [UInt64: RecordID] = [:]
    /// Tables that the old and the new state share: nothing is written in them before the switch.
    package var sharedTables: Set<TableID> = []

    init(isReadOnly: Bool) { self.isReadOnly = isReadOnly }
}
