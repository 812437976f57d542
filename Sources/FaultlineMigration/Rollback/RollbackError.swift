/// Why a migration was not rolled back: the store is unchanged.
public struct RollbackError: Error, Sendable, CustomStringConvertible {
    /// The kind of reason.
    public enum Code: String, Sendable, CaseIterable {
        /// No state is kept: no migration had a grace period, or it has ended and its space was freed.
        case nothingKept
        /// The grace period is over.
        case graceOver
        /// Saves followed the migration, and the caller has not allowed to discard them.
        case commitsFollowed
    }

    /// The kind of reason, for programs.
    public let code: Code
    /// The cause and the remedy.
    public let message: String
    /// Saves that followed the migration; 0 with other codes.
    public let commits: Int

    init(_ code: Code, _ message: String, commits: Int = 0) {
        self.code = code
        self.message = message
        self.commits = commits
    }

    /// The message.
    public var description: String { message }
}
