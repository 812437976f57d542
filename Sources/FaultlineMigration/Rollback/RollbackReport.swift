/// What a rollback did.
public struct RollbackReport: Codable, Sendable, Equatable {
    /// The version that was in force.
    public internal(set) var from: String
    /// The version that is in force again.
    public internal(set) var to: String
    /// Saves behind the migration that are gone.
    public internal(set) var commitsDiscarded: Int
}
