internal import FaultlineObjects

/// The closures of a custom stage: at least one of the two.
struct StageClosures {
    /// Gets the objects of the old version, before the change.
    let willMigrate: (@Sendable (ModelContext) throws -> Void)?
    /// Gets those of the new version, after it.
    let didMigrate: (@Sendable (ModelContext) throws -> Void)?
}
