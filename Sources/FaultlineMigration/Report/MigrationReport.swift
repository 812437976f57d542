internal import FaultlineStore

/// What a migration did.
///
/// Counts go on where a migration that was stopped goes on; of a stage that begins again only the last run is counted.
/// As `Codable` it has the keys of its properties, which later releases add to and do not change.
public struct MigrationReport: Codable, Sendable, Equatable {
    /// Versions gone through, the first being the store's own; empty if nothing was to be done.
    public internal(set) var versions: [String] = []
    /// Objects of the old version that were read: by streamed stages, one each; by closures of custom stages, as often
    /// as their rows were.
    public internal(set) var objectsRead = 0
    /// Objects that stages wrote; by custom stages, as often as they were saved.
    public internal(set) var objectsWritten = 0
    /// Objects that `upsert` found by their unique values.
    public internal(set) var objectsFound = 0
    /// Old objects for which nothing was written.
    public internal(set) var objectsDropped = 0
    /// Objects that were copied, so that the closures of custom stages can change them.
    public internal(set) var objectsCopied = 0
    /// Objects that closures of custom stages deleted.
    public internal(set) var objectsDeleted = 0
    /// Objects that closures of custom stages had changed and not saved when they returned: these changes are lost.
    public internal(set) var changesNotSaved = 0
    /// Values out of the row that went over without being read.
    public internal(set) var blobsMoved = 0
    /// Values out of the row that no new object took, or that a closure gave up.
    public internal(set) var blobsLeftBehind = 0
    /// Bytes of values out of the row that were read.
    public internal(set) var blobBytesRead = 0
    /// How often the migration was taken up again after it had been stopped.
    public internal(set) var resumes = 0
    /// Bytes that were written to the store's files, values out of the row included; what maintenance wrote meanwhile
    /// is left out.
    public internal(set) var bytesWritten = 0
    /// Nanoseconds that it took, those of runs that were stopped included as far as their work counts.
    public internal(set) var nanoseconds = 0
    /// The stages that were run, in their order.
    public internal(set) var stages: [Stage] = []
    /// The switch, and what was done after it.
    public internal(set) var lastPasses: [Pass] = []
    /// Objects that went into the quarantine; of a dry run those that would.
    public internal(set) var quarantined: [Quarantined] = []
    /// How many that are, of all entities.
    package var quarantinedCount: Int { quarantined.reduce(0) { $0 + $1.objects } }
    /// Until when the store can return to the state before, and what that holds; nil without a grace period.
    public internal(set) var gracePeriod: GracePeriod?

    /// Whether the migration was only tried out.
    public internal(set) var isDryRun = false
    /// Objects of each entity that a dry run of a sample has tried out: time and bytes are estimates then, for all
    /// objects, and the counts those of the sample; nil where all were.
    public internal(set) var sample: Int?
    /// Objects that a dry run found to fail, in the order in which they were met.
    public internal(set) var failures: [Failure] = []
    /// Whether a dry run ended before its end: at the most failures that it lists, or at one that it could not go on
    /// behind.
    public internal(set) var isIncomplete = false
    /// Bytes that the migration needs on the disk beside what the store takes, as a dry run has measured them.
    public internal(set) var diskBytesNeeded = 0
    /// Bytes that were free on the disk when a dry run began.
    public package(set) var diskBytesFree = 0

    /// Whether the disk has room for the migration, as a dry run has measured it.
    public var fitsOnDisk: Bool { diskBytesNeeded <= diskBytesFree }

    /// Nothing done yet.
    package init() {}

    /// Keys of the report as JSON.
    enum CodingKeys: String, CodingKey {
        case versions, objectsRead, objectsWritten, objectsFound, objectsDropped, objectsCopied, objectsDeleted
        case changesNotSaved, blobsMoved, blobsLeftBehind, blobBytesRead, resumes, bytesWritten, nanoseconds, stages
        case quarantined, gracePeriod
        case lastPasses, isDryRun, sample, failures, isIncomplete, diskBytesNeeded, diskBytesFree
    }

    /// What one stage did.
    public struct Stage: Codable, Sendable, Equatable {
        /// The kinds of stages.
        public enum Kind: String, Codable, Sendable {
            case lightweight, streamed, custom, mapped
        }

        enum CodingKeys: String, CodingKey {
            case from, to, kind, resumes, entities, mappings, leftBehind, properties, passes
        }

        /// The version it leads from.
        public internal(set) var from: String
        /// The version it leads to.
        public internal(set) var to: String
        /// Its kind.
        public internal(set) var kind: Kind
        /// How often it was taken up again after it had been stopped: a streamed stage went on, others began again.
        public internal(set) var resumes: Int
        /// By entity, under the name that it has on the side that is counted: old objects are read, dropped, copied,
        /// new ones written, found, deleted.
        ///
        /// What closures of custom stages read is not counted by entity.
        public internal(set) var entities: [Objects]
        /// By mapping, of mapped stages.
        public internal(set) var mappings: [Objects]
        /// What the stage left out by itself, without code having seen it: entities and attributes that the new version
        /// does not have.
        public internal(set) var leftBehind: [LeftBehind]
        /// Of streamed stages, the properties that both versions have under one type, with the objects that have a
        /// value.
        public internal(set) var properties: [Property]
        /// What its passes took.
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
        /// Old objects of which nothing was made.
        public internal(set) var dropped: Int
        /// Objects that were copied for the closures of a custom stage.
        public internal(set) var copied: Int
        /// Objects that closures deleted.
        public internal(set) var deleted: Int
    }

    /// Values that did not go over.
    public struct LeftBehind: Codable, Sendable, Equatable {
        /// The entity of the old version.
        public internal(set) var entity: String
        /// The attribute; nil where all objects of the entity were left.
        public internal(set) var attribute: String?
        /// Objects that the entity had; their values were not read, so those without a value count too.
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

    /// What a pass took.
    public struct Pass: Codable, Sendable, Equatable {
        /// The pass.
        public internal(set) var pass: MigrationPass
        /// Its time.
        public internal(set) var nanoseconds: Int
        /// Bytes that were written to the store's files meanwhile.
        public internal(set) var bytesWritten: Int
    }

    /// Objects that were put into the quarantine.
    public struct Quarantined: Codable, Sendable, Equatable {
        /// The version that the stage leads to.
        public internal(set) var stage: String
        /// The entity of the version before.
        public internal(set) var entity: String
        /// What they contradict.
        public internal(set) var rule: Failure.Rule
        /// How many there are.
        public internal(set) var objects: Int
    }

    /// An object that cannot be migrated.
    public struct Failure: Codable, Sendable, Equatable {
        /// What it contradicts.
        public enum Rule: String, Codable, Sendable {
            /// The closure, the policy or an expression threw.
            case code
            /// What was made of it cannot be saved.
            case invalid
            /// It has the unique values of another.
            case duplicate
            /// A required object is missing.
            case required
            /// The required object that it refers to is not there.
            case dangling
            /// It has too many objects, or too few.
            case count
        }

        /// The version that the stage leads to.
        public internal(set) var stage: String
        /// The entity: of the old version where it could not be read or converted, of the new one where what was made
        /// breaks a rule; empty where it is the stage as a whole that failed.
        public internal(set) var entity: String
        /// The object's number in its entity, as `PersistentIdentifier` shows it; nil where it is none in particular.
        public internal(set) var object: UInt64?
        /// The property, where it is one.
        public internal(set) var property: String?
        /// What it contradicts.
        public internal(set) var rule: Rule
        /// What was thrown, or is wrong, in words.
        public internal(set) var reason: String
    }
}
