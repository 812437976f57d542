#if Import
/// The progress of an import.
public struct ImportProgress: Sendable {
    /// A part of the work.
    public enum Phase: String, Sendable {
        /// Objects are written.
        case objects
        /// Links of relationships between collections are written.
        case links
        /// Both sides are read and compared.
        case comparing
    }

    /// The part of the work.
    public let phase: Phase
    /// The table of the source, or the entity of the new store.
    public let table: String
    /// Objects and links that this part has reached.
    public let count: Int
}

/// The result of an import: the values of both sides, and what could not be carried over.
public struct ImportReport: Sendable, Hashable {
    /// The values of one property on one side.
    public struct Side: Sendable, Hashable {
        /// Values that are not nil; links, for a relationship between collections.
        public let count: Int
        /// Bytes of the values in the form of the new store.
        public let byteCount: Int
        /// A hash over all values with the numbers of their objects, in 16 hexadecimal digits.
        public let hash: String
    }

    /// A property on both sides.
    public struct Column: Sendable, Hashable {
        /// The property.
        public let name: String
        /// The values that could be read from the source.
        public let source: Side
        /// The values in the new store.
        public let destination: Side
        /// Whether both sides have the same values.
        public var isEqual: Bool { source == destination }
    }

    /// An entity on both sides.
    public struct Entity: Sendable, Hashable {
        /// The entity.
        public let name: String
        /// Objects that could be read from the source.
        public let sourceCount: Int
        /// Objects in the new store.
        public let destinationCount: Int
        /// The properties; to-many relationships whose inverse is to-one are compared there.
        public let columns: [Column]
    }

    /// The source's UUID; empty if it has none.
    public let storeUUID: String
    /// The entities of the model, in its order.
    public let entities: [Entity]
    /// What could not be carried over.
    public let findings: [ImportFinding]
    /// Choices that were made, in words.
    public let notes: [String]
    /// Entities of Core Data's own that were skipped: its history, its state of synchronization.
    public let skippedEntities: [String]
    /// The file with each value that could not be carried over, a line of JSON a value; nil if there are none.
    public let findingsPath: String?
    /// Whether an earlier call had begun the import.
    public let isResumed: Bool

    /// Whether all objects and values were carried over, and both sides are equal.
    public var isComplete: Bool {
        findings.isEmpty
            && entities.allSatisfy { $0.sourceCount == $0.destinationCount && $0.columns.allSatisfy(\.isEqual) }
    }

    /// Objects in the new store.
    public var objectCount: Int { entities.reduce(0) { $0 + $1.destinationCount } }
}
#endif
