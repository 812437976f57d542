/// How an undo of a save treats objects that later saves have changed.
public enum CommitUndoPolicy: Sendable, Hashable {
    /// Nothing is changed if there is a conflict, and the error names all of them.
    case refuse
    /// Later values stay; everything else is taken back.
    case keepLater
}

/// A change of a save that cannot be taken back, because of a later change.
public struct CommitUndoConflict: Sendable, Hashable, CustomStringConvertible {
    /// Why a change cannot be taken back.
    public enum Reason: Sendable, Hashable {
        /// The property has another value than the save gave it.
        case changedSince
        /// The object that the save has changed is deleted.
        case deletedSince
        /// The object that the property led to before the save is deleted.
        case targetDeleted
    }

    /// The object that the save has changed.
    public let object: PersistentIdentifier
    /// The property; nil where the object as a whole is meant.
    public let property: String?
    /// Why the change cannot be taken back.
    public let reason: Reason

    /// One sentence.
    public var description: String {
        let subject = "\(object.entityName) \(object.number)"
        return switch reason {
        case .changedSince: "\(subject) has another \(property ?? "value") than the save gave it."
        case .deletedSince: "\(subject) was deleted since."
        case .targetDeleted: "The object that \(subject) had as \(property ?? "target") was deleted since."
        }
    }
}

/// An undo of a save that was refused: nothing was changed.
public struct CommitUndoError: Error, Sendable, CustomStringConvertible {
    /// All conflicts, or the first 1,000 of more.
    public let conflicts: [CommitUndoConflict]
    /// How many conflicts there are.
    public let conflictCount: Int

    /// The first conflicts, and the remedy.
    public var description: String {
        let first = conflicts.prefix(3).map(\.description).joined(separator: " ")
        let rest = conflictCount > 3 ? " And \(conflictCount - 3) more." : ""
        return "The save was not undone. \(first)\(rest) Undo the later saves first, or use .keepLater."
    }
}

/// The changes that an undo of a save has made in a context.
public struct CommitUndoSummary: Sendable, Hashable {
    /// Objects that the save had deleted, and that are new objects of the context with their old values.
    public internal(set) var restoredCount = 0
    /// Objects with values from before the save.
    public internal(set) var changedCount = 0
    /// Objects that the save had inserted, and that the context will delete.
    public internal(set) var deletedCount = 0
    /// Changes that stay because of later ones: all, or the first 1,000 of more.
    public internal(set) var conflicts: [CommitUndoConflict] = []
    /// How many changes stay because of later ones.
    public internal(set) var conflictCount = 0

    static let conflictCountMax = 1_000

    /// Makes a summary without changes.
    package init() {}

    mutating func add(_ conflict: CommitUndoConflict) {
        conflictCount += 1
        if conflicts.count < Self.conflictCountMax { conflicts.append(conflict) }
    }
}
