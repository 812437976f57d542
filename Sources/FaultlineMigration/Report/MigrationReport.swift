internal import FaultlineStore

/// The result of a migration.
///
/// A resumed migration continues its counts; for a restarted stage only the last run counts. As `Codable` it has the
/// keys of its properties; later releases add keys and do not change existing ones.
public struct MigrationReport: Codable, Sendable, Equatable {
    /// The versions passed through, starting with the store's own; empty if there was nothing to do.
    public internal(set) var versions: [String] = []
    /// Objects of the old version that were read: each once by streamed stages; by closures of custom stages, as often
    /// as their rows were read.
    public internal(set) var objectsRead = 0
    /// Objects that stages wrote; for custom stages, as often as they were saved.
    public internal(set) var objectsWritten = 0
    /// Objects that `upsert` found by their unique values.
    public internal(set) var objectsFound = 0
    /// Old objects without a new one.
    public internal(set) var objectsDropped = 0
    /// Objects that were copied, so that the closures of custom stages can change them.
    public internal(set) var objectsCopied = 0
    /// Objects that closures of custom stages deleted.
    public internal(set) var objectsDeleted = 0
    /// Objects that closures of custom stages had changed and not saved when they returned: these changes are lost.
    public internal(set) var changesNotSaved = 0
    /// Large values that a new owner took over, and that were not written again.
    public internal(set) var blobsMoved = 0
    /// Large values that no new object took over, or that a closure dropped.
    public internal(set) var blobsLeftBehind = 0
    /// Bytes of large values that were read.
    ///
    /// If code sets an attribute to `Data` that it has just read, the bytes count as read and as moved.
    public var blobBytesRead: Int { blobBytes.read }
    /// Bytes of large values that stages saved as new ones: set by code, or copied.
    public var blobBytesWritten: Int { blobBytes.written }
    /// Bytes of the large values that were moved.
    public var blobBytesMoved: Int { blobBytes.moved }
    var blobBytes = BlobBytes()
    /// How often the migration was resumed after it had been stopped.
    public internal(set) var resumes = 0
    /// Bytes that were written to the store's files, including large values; without the bytes that maintenance wrote
    /// in that time.
    public internal(set) var bytesWritten = 0
    /// The duration in nanoseconds, including stopped runs as far as their work counts.
    public internal(set) var nanoseconds = 0
    /// The stages that were run, in their order.
    public internal(set) var stages: [Stage] = []
    /// The switch, and the passes after it.
    public internal(set) var lastPasses: [Pass] = []
    /// Objects that were quarantined; for a dry run, those that would be.
    public internal(set) var quarantined: [Quarantined] = []
    /// The total over all entities.
    package var quarantinedCount: Int { quarantined.reduce(0) { $0 + $1.objects } }
    /// Until when the store can return to the state before, and the space that this takes; nil without a grace period.
    public internal(set) var gracePeriod: GracePeriod?

    /// The error that stopped the migration; nil if it has switched.
    ///
    /// Then the other figures are those up to there.
    public internal(set) var stop: Stop?

    /// Whether this was a dry run.
    public package(set) var isDryRun = false
    /// Objects of each entity that a dry run of a sample has converted: then time and bytes are estimates for all
    /// objects, and the counts are those of the sample; nil if all objects were converted.
    public internal(set) var sample: Int?
    /// Objects that failed in a dry run, in the order in which they were met.
    public internal(set) var failures: [Failure] = []
    /// Whether a dry run ended early: at its greatest number of failures, or at a failure that it could not continue
    /// after.
    public internal(set) var isIncomplete = false
    /// Bytes that the migration needs on the disk in addition to the store, as measured by a dry run.
    public internal(set) var diskBytesNeeded = 0
    /// Bytes that were free on the disk when a dry run began.
    public package(set) var diskBytesFree = 0

    /// Whether the disk has room for the migration, as measured by a dry run.
    public var fitsOnDisk: Bool { diskBytesNeeded <= diskBytesFree }

    /// Makes an empty report.
    package init() {}

    /// Keys of the report as JSON.
    enum CodingKeys: String, CodingKey {
        case versions, objectsRead, objectsWritten, objectsFound, objectsDropped, objectsCopied, objectsDeleted
        case changesNotSaved, blobsMoved, blobsLeftBehind, blobBytesRead, blobBytesMoved, blobBytesWritten
        case resumes, bytesWritten, nanoseconds, stages, quarantined, gracePeriod, stop
        case lastPasses, isDryRun, sample, failures, isIncomplete, diskBytesNeeded, diskBytesFree
    }

    /// Bytes of large values, uncompressed.
    struct BlobBytes: Sendable, Equatable {
        var read = 0
        var moved = 0
        var written = 0
    }

    /// The result of one stage.
    public struct Stage: Codable, Sendable, Equatable {
        /// The kinds of stages.
        public enum Kind: String, Codable, Sendable {
            /// The form of `MigrationStage` that made the stage.
            case lightweight, streamed, custom, mapped
        }

        enum CodingKeys: String, CodingKey {
            case from, to, kind, resumes, restarts, entities, mappings, leftBehind, properties, passes
        }

        /// The version it starts from.
        public internal(set) var from: String
        /// The version it leads to.
        public internal(set) var to: String
        /// Its kind.
        public internal(set) var kind: Kind
        /// How often it was resumed after it had been stopped: a streamed stage continued, others restarted.
        public internal(set) var resumes: Int
        /// How often work of an earlier opening was dropped, because the stage had another revision, or because
        /// `MigrationOptions.restarts` asked for it; that counts for the first stage.
        public internal(set) var restarts: Int
        /// By entity, under its name in the counted version: old objects are read, dropped, copied; new ones are
        /// written, found, deleted.
        ///
        /// Objects that closures of custom stages read are not counted by entity.
        public internal(set) var entities: [Objects]
        /// By mapping, of mapped stages.
        public internal(set) var mappings: [Objects]
        /// Entities and attributes that the stage dropped before any code had seen them, because the new version lacks
        /// them.
        public internal(set) var leftBehind: [LeftBehind]
        /// For streamed stages, the properties that both versions have with the same type, with the objects that have a
        /// value.
        public internal(set) var properties: [Property]
        /// The cost of its passes.
        public internal(set) var passes: [Pass]
    }

    /// Objects of one entity, or of one mapping.
    public struct Objects: Codable, Sendable, Equatable {
        /// The entity, or the mapping.
        public internal(set) var name: String
        /// Old objects that were read.
        public internal(set) var read: Int
        /// New objects that were written.
        public internal(set) var written: Int
        /// New objects that were found by their unique values instead.
        public internal(set) var found: Int
        /// Old objects without a new one.
        public internal(set) var dropped: Int
        /// Objects that were copied for the closures of a custom stage.
        public internal(set) var copied: Int
        /// Objects that closures deleted.
        public internal(set) var deleted: Int
    }

    /// Values that were not carried over.
    public struct LeftBehind: Codable, Sendable, Equatable {
        /// The entity of the old version.
        public internal(set) var entity: String
        /// The attribute; nil if all objects of the entity were dropped.
        public internal(set) var attribute: String?
        /// Objects that the entity had; their values were not read, so objects without a value count too.
        public internal(set) var objects: Int
    }

    /// A property that both versions of a streamed stage's entity have.
    public struct Property: Codable, Sendable, Equatable {
        /// The entity of the new version.
        public internal(set) var entity: String
        /// The property of the new version.
        public internal(set) var name: String
        /// Old objects that had a value, which is neither nil nor a default that their rows lack.
        public internal(set) var had: Int
        /// New objects that have a value other than the default, whether it was carried over or set by a closure.
        public internal(set) var have: Int
        /// Whether the values were carried over, because no closure has set the property.
        public internal(set) var isCarriedOver: Bool
    }

    /// The cost of a pass.
    public struct Pass: Codable, Sendable, Equatable {
        /// The pass.
        public internal(set) var pass: MigrationPass
        /// Its time.
        public internal(set) var nanoseconds: Int
        /// Bytes that were written to the store's files in that time.
        public internal(set) var bytesWritten: Int
    }

    /// The error that stopped a migration.
    public struct Stop: Codable, Sendable, Equatable {
        /// The code of a `MigrationError` or a `StorageError`, such as `stageFailed`; `other` for another error.
        public internal(set) var code: String
        /// The stage, by its versions, such as `1.0.0 → 2.0.0`; nil if there is none.
        public internal(set) var stage: String?
        /// The entity concerned; nil if there is none.
        public internal(set) var entity: String?
        /// The property concerned; nil if there is none.
        public internal(set) var property: String?
        /// The object's number in its entity, as `PersistentIdentifier` shows it; nil if there is none.
        public internal(set) var object: UInt64?
        /// The error in words, with its cause.
        public internal(set) var error: String
    }

    /// Objects that were quarantined.
    public struct Quarantined: Codable, Sendable, Equatable {
        /// The version that the stage leads to.
        public internal(set) var stage: String
        /// The entity of the version before.
        public internal(set) var entity: String
        /// The rule they break.
        public internal(set) var rule: Failure.Rule
        /// How many there are.
        public internal(set) var objects: Int
    }

    /// An object that cannot be migrated.
    public struct Failure: Codable, Sendable, Equatable {
        /// The rule it breaks.
        public enum Rule: String, Codable, Sendable {
            /// The closure, the policy or an expression threw.
            case code
            /// Its new object cannot be saved.
            case invalid
            /// It has the unique values of another.
            case duplicate
            /// A required object is missing.
            case required
            /// The required object that it refers to is missing.
            case dangling
            /// It has too many objects, or too few.
            case count
        }

        /// The version that the stage leads to.
        public internal(set) var stage: String
        /// The entity: of the old version if the object could not be read or converted, of the new one if a new object
        /// breaks a rule; empty if the whole stage failed.
        public internal(set) var entity: String
        /// The object's number in its entity, as `PersistentIdentifier` shows it; nil if the failure has no object.
        public internal(set) var object: UInt64?
        /// The property concerned, if there is one.
        public internal(set) var property: String?
        /// The rule it breaks.
        public internal(set) var rule: Rule
        /// The error or the violation, in words.
        public internal(set) var reason: String
    }
}
