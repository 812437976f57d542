internal import FaultlineObjects

/// What a custom stage runs: at least one of two closures.
struct StageClosures {
    /// Sees the objects of the old version, before the change.
    let willMigrate: (@Sendable (ModelContext) throws -> Void)?
    /// Sees those of the new version, after it.
    let didMigrate: (@Sendable (ModelContext) throws -> Void)?
}
