/// Why a migration was not rolled back: the store is as it was.
public struct RollbackError: Error, Sendable, CustomStringConvertible {
    /// What kind of reason it is.
    public enum Code: String, Sendable, CaseIterable {
        /// No state is kept: no migration asked for a grace period, or it has ended and its space was given back.
        case nothingKept
        /// The grace period is over.
        case graceOver
        /// Saves followed the migration, and nobody said that they may be discarded.
        case commitsFollowed
    }

    /// What kind of reason it is, for code that acts on it.
    public let code: Code
    /// What happened and what to do.
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
