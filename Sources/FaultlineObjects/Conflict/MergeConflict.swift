/// An object that another save has changed or deleted since this context has read it.
public struct MergeConflict: Sendable, Hashable, CustomStringConvertible {
    /// The other save's change, and this context's change.
    public enum Kind: String, Sendable, CaseIterable {
        /// Another save changed an object that was changed here, or that `detectConflicts(for:)` was called for.
        case changedElsewhere
        /// Another save deleted it.
        case deletedElsewhere
        /// Another save changed an object that is to be deleted here.
        case deletedHere
    }

    /// A property in conflict, and its values.
    ///
    /// A large value is not read: `PropertyValue.outOfRow`.
    public struct Property: Sendable, Hashable {
        /// The property.
        public let name: String
        /// Its value when the context read the object; nil if it is unknown, because the object had been changed and
        /// its row released before the context got a policy.
        public let read: PropertyValue?
        /// The value that another save has written; nil if it has deleted the object.
        public let stored: PropertyValue?
        /// The value here; nil if the object is to be deleted here.
        ///
        /// A value that was not set here is the one that was read.
        public let unsaved: PropertyValue?
        /// Whether it was set here as well.
        public let isChangedHere: Bool
    }

    /// The object.
    public let object: PersistentIdentifier
    /// The change by each side.
    public let kind: Kind
    /// The properties that another save has changed; for an object that it has deleted, those that were set here.
    public let properties: [Property]

    /// One sentence without its full stop.
    public var description: String {
        let name = "\(object.entityName) \(object.number)"
        let names = properties.map(\.name).joined(separator: ", ")
        return switch kind {
        case .changedElsewhere: "\(name): \(names) changed elsewhere since it was read"
        case .deletedElsewhere: "\(name) was deleted elsewhere since it was read"
        case .deletedHere: "\(name), which is to be deleted: \(names) changed elsewhere since it was read"
        }
    }
}

/// A save was refused under `MergePolicy.error`; nothing was saved, and the context is as it was.
///
/// `refresh(_:mergeChanges:)` brings an object to its stored state, with or without its changes, and so resolves its
/// conflict. Another policy of the context does so too.
public struct MergeConflictError: Error, Sendable, CustomStringConvertible {
    /// The greatest number of conflicts that an error keeps.
    static let keptCountMax = 1_000
    private static let shownCountMax = 20

    /// All conflicts, or the first 1,000 of more.
    public let conflicts: [MergeConflict]
    /// How many there are.
    public let conflictCount: Int

    /// The conflicts, and the remedy.
    public var description: String {
        let shown = conflicts.prefix(Self.shownCountMax).map(\.description).joined(separator: "; ")
        let rest = conflictCount - min(conflicts.count, Self.shownCountMax)
        let more = rest > 0 ? "; and \(rest) more" : ""
        return
            "Nothing was saved. \(shown)\(more). Refresh these objects, or give the context another merge policy."
    }
}
