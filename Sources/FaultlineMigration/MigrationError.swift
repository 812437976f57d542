internal import FaultlineStore

/// Why a migration was refused or stopped.
///
/// The store is in its old state, or resumes where it was.
public struct MigrationError: Error, Sendable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Code: Sendable, Equatable {
        /// The store's schema is none of the plan's.
        case unknownVersion
        /// The store is newer than the plan, or, without a plan, has left the schema asked for behind.
        case backward
        /// The store is of a version that the plan has dropped: an older release of the app has to migrate it first.
        case droppedVersion
        /// No stage leads from one of the plan's versions to the next.
        case skippedVersion
        /// Two of the plan's versions describe the same schema.
        case twinVersions
        /// The stages are not in the order of the versions.
        case stagesOutOfOrder
        /// A stage leads from or to a version that is none of the plan's.
        case unknownStage
        /// The plan does not know the container's schema, or a stage speaks of what its versions do not have.
        case badPlan
        /// A change needs a default value or a stage.
        case notLightweight
        /// The migration would drop values that no stage has seen, and nothing allows that.
        case unhandledData
        /// Two objects have the same values where the new version asks for unique ones.
        case duplicate
        /// An object refers to nothing where the new version asks for a reference.
        case missingReference
        /// The closure of a stage threw, wrote something that cannot be, or caught an error that its context met.
        case stageFailed
        /// More objects cannot be converted than the quarantine may take.
        case quarantineFull
        /// The disk has no room for what the migration is going to write.
        case fullDisk
        /// It was cancelled by its `MigrationControl`.
        case cancelled
        /// A migration was stopped that can go on, and would be given up.
        case underWay
        /// The store could not be read or written.
        case storage
    }

    /// What kind of trouble it is, for code that acts on it.
    public let code: Code
    /// What happened and what to do.
    public let message: String
    /// The stage that it is about, by its versions, as in `1.0.0 → 2.0.0`; nil if it is about none.
    public let stage: String?
    /// The entity that it is about, the first one of several; nil if it is about none.
    public let entityName: String?
    /// The property that it is about, the first one of several; nil if it is about none.
    public let propertyName: String?
    /// The number in its entity of the object that it is about, the first one of several, as `PersistentIdentifier` shows
    /// it; nil if it is about none.
    public let object: UInt64?
    /// What the closure or the store threw.
    public let cause: (any Error)?

    package init(
        _ code: Code, _ message: String, stage: String? = nil, entity: String? = nil, property: String? = nil,
        object: UInt64? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.stage = stage
        entityName = entity
        propertyName = property
        self.object = object
        self.cause = cause
    }

    /// The same, with a place for each that it does not name.
    func about(stage: String? = nil, entity: String? = nil, object: UInt64? = nil) -> MigrationError {
        MigrationError(
            code, message, stage: self.stage ?? stage, entity: entityName ?? entity, property: propertyName,
            object: self.object ?? object, cause: cause)
    }

    /// The message, with the cause in parentheses if there is one.
    public var description: String {
        cause.map { "\(message) (\($0))" } ?? message
    }

    /// The form of an error that says what it means for the migration; any other stays as it is.
    static func translating(_ error: any Error) -> any Error {
        guard let error = error as? StoreError, error.code == .duplicate else { return error }
        return MigrationError(
            .duplicate, "\(error.message) The store is in its old state.", entity: error.subject?.entityName,
            property: error.subject?.propertyName, object: error.subject?.object)
    }
}
