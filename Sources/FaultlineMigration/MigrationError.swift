package import FaultlineObjects
internal import FaultlineStore

/// Why a migration was refused or stopped.
///
/// The store is in its old state, or can be resumed.
public struct MigrationError: Error, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: Sendable, Equatable {
        /// The store's schema is none of the plan's.
        case unknownVersion
        /// The store is newer than the plan, or, without a plan, has a newer schema than the requested one.
        case backward
        /// The store is of a version that the plan has dropped: an older release of the app has to migrate it first.
        case droppedVersion
        /// No stage leads from one of the plan's versions to the next.
        case skippedVersion
        /// Two of the plan's versions describe the same schema; or the requested schema gives a name of the store's to
        /// another item by an original name, which its fingerprint does not show.
        case twinVersions
        /// The stages are not in the order of the versions.
        case stagesOutOfOrder
        /// A stage leads from or to a version that is none of the plan's.
        case unknownStage
        /// The plan does not have the container's schema, or a stage names something that its versions do not have.
        case badPlan
        /// A change needs a default value or a stage.
        case notLightweight
        /// A stage, a change or an option does not allow that others save while the migration runs
        /// (`MigrationOptions.isOnline`).
        case notOnline
        /// The migration would drop values that no stage has seen, and nothing allows that.
        case unhandledData
        /// Two objects have the same values, which the new version requires to be unique.
        case duplicate
        /// An object has no target for a reference that the new version requires.
        case missingReference
        /// The closure of a stage threw, wrote an invalid value, or caught an error that its context met.
        case stageFailed
        /// A stage was resumed three times without progress, or failed at the same object each time: it is not run
        /// again before its code is corrected, or until it is begun again.
        case noProgress
        /// More objects failed than the quarantine may take.
        case quarantineFull
        /// The disk has too little room for the migration.
        case fullDisk
        /// It was cancelled by its `MigrationControl`.
        case cancelled
        /// A dry run would drop a stopped migration that can be resumed; or another dry run on a copy, or another
        /// migration into the same place, is under way.
        case underWay
        /// The store was opened for reading and has to be written first, or its record of the migration cannot be used;
        /// or a store cannot be migrated into another place, because one of the two places does not suit.
        case storage
    }

    /// The kind of error, for programs.
    public let code: Code
    private let text: String
    /// The cause and the remedy; then, if schemas differ, both fingerprints, the nearest version and the changes.
    ///
    /// `unhandledData` leaves the changes out: those that matter are the losses, which it counts.
    public var message: String {
        guard let mismatch else { return text }
        return "\(text) \(code == .unhandledData ? mismatch.versions : mismatch.description)"
    }
    /// The schemas that differ; nil for an error of objects, code or the disk.
    public internal(set) var mismatch: SchemaMismatch?
    /// The stage with the error, by its versions, such as `1.0.0 → 2.0.0`; nil if there is none.
    public let stage: String?
    /// The entity with the error, the first one of several; nil if there is none.
    public let entityName: String?
    /// The property with the error, the first one of several; nil if there is none.
    public let propertyName: String?
    /// The number of the object with the error in its entity, the first one of several, as `PersistentIdentifier` shows
    /// it; nil if there is none.
    public let object: UInt64?
    /// The error of the closure or the store.
    public let cause: (any Error)?

    package init(
        _ code: Code, _ message: String, stage: String? = nil, entity: String? = nil, property: String? = nil,
        object: UInt64? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        text = message
        self.stage = stage
        entityName = entity
        propertyName = property
        self.object = object
        self.cause = cause
    }

    /// The same error, with the given places for those that it lacks.
    ///
    /// An object replaces an entity that the error names without an object.
    func about(stage: String? = nil, entity: String? = nil, object: UInt64? = nil) -> MigrationError {
        let hasOther = self.object == nil && object != nil && entityName != entity
        var error = MigrationError(
            code, text, stage: self.stage ?? stage, entity: hasOther ? entity : entityName ?? entity,
            property: propertyName, object: self.object ?? object, cause: cause)
        error.mismatch = mismatch
        return error
    }

    /// The message, with the cause in parentheses if there is one.
    public var description: String {
        cause.map { "\(message) (\($0))" } ?? message
    }

    /// The public form of an error that has a meaning for the migration; any other error is returned unchanged.
    static func translating(_ error: any Error) -> any Error {
        guard let error = error as? StoreError, error.code == .duplicate else { return error }
        return MigrationError(
            .duplicate, "\(error.message) The store is in its old state.", entity: error.subject?.entityName,
            property: error.subject?.propertyName, object: error.subject?.object)
    }
}

extension MigrationError: SwiftDataNamed {
    package func isNamed(_ error: SwiftDataError) -> Bool {
        switch error {
        case SwiftDataError.loadIssueModelContainer: true
        case SwiftDataError.backwardMigration: code == .backward
        case SwiftDataError.unknownSchema: code == .unknownVersion
        default: false
        }
    }
}
