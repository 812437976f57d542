/// The result of a rollback.
public struct RollbackReport: Codable, Sendable, Equatable {
    /// The version before the rollback.
    public internal(set) var from: String
    /// The version after the rollback.
    public internal(set) var to: String
    /// Saves after the migration that were discarded.
    public internal(set) var commitsDiscarded: Int
}
