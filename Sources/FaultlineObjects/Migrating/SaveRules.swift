package import FaultlineLog

/// How the saves of a context differ from those of an application that may write: in streamed and mapped stages.
package struct SaveRules {
    /// Whether nothing may be saved.
    let isReadOnly: Bool
    /// Says whether a new object may take over a large value of an old object, which it may once; nil where large values
    /// are copied.
    package var mayMoveBlob: ((UInt64) -> Bool)?
    /// Whether large values are written to the store when they are set, so that unsaved objects do not hold their bytes.
    package var spillsLargeValues = false
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
    /// Whether chosen numbers were never assigned, so that the save assigns them: they stand for the keys of a data
    /// store.
    var allocatesChosenNumbers = false
    /// Those that are of deleted objects which an undo restores.
    private(set) var restored: [StoredKey: UInt64] = [:]
    var restoresObjects: Bool { !restored.isEmpty }
    /// Tables that the old and the new state share: nothing is written in them before the switch.
    package var sharedTables: Set<TableID> = []
    /// Whether new objects are let go when they exceed their share of memory: in the closures of a custom stage.
    package var spillsInserts = false { didSet { beginSpilling() } }
    /// New objects after which their bytes are counted again.
    static let spillStep = 64
    /// New objects from which the context looks at their bytes.
    private(set) var nextSpillCount = Int.max
    /// Counts the memory of the unsaved objects, for saves within the ceiling.
    var unsavedBytes = UnsavedBytes()
    /// Called with a large value that was read as `Data`, and the entity of its owner, before another object refers to
    /// it.
    package var willRefer: ((_ blob: UInt64, _ entityName: String) -> Void)?
    /// Called with the bytes of a large value before memory is taken for it.
    package var willHold: ((_ byteCount: Int) -> Void)?

    init(isReadOnly: Bool) { self.isReadOnly = isReadOnly }

    /// Lets new objects go from the next ones on, if the context does so.
    mutating func beginSpilling() {
        nextSpillCount = spillsInserts ? Self.spillStep : .max
    }

    /// Gives a new object the number that a deleted one had.
    mutating func restore(_ key: StoredKey, as temporaryNumber: UInt64) {
        chosenNumbers[temporaryNumber] = key.number
        restored[key] = temporaryNumber
    }

    mutating func forgetChosenNumbers() {
        chosenNumbers.removeAll()
        restored.removeAll()
    }

    /// Looks at the new objects again when there are so many.
    mutating func spillInserts(from count: Int) { nextSpillCount = count }

    /// Refuses a save by user code if only the stage may save.
    func checkSavesByItself(_ isOfStage: Bool) throws {
        guard isSavedByStage, !isOfStage else { return }
        throw SwiftDataError.modelValidationFailure.explained(
            "The context of a mapped stage is saved by the migration, in batches. Leave the save out.")
    }

    /// Refuses to write in a table that the old state of a migration reads.
    @inline(__always)
    func checkUnshared(_ table: TableID, _ what: @autoclosure () -> String, _ done: String) throws {
        guard !sharedTables.isEmpty, sharedTables.contains(table) else { return }
        throw SwiftDataError.modelValidationFailure.explained(
            "A migration stage \(done) \(what()), which goes over as it is: the old state would see it. Name the entity in the stage, with a StreamedEntity or a mapping of its own."
        )
    }
}
