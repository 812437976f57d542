public import Faultline

/// An error that was found by running the paths of a migration plan.
public struct MigrationTestError: Error, CustomStringConvertible {
    /// The kinds of findings.
    public enum Code: Hashable, Sendable {
        /// A version has no golden store.
        case missing
        /// A store did not open; `cause` has its error.
        case failed
        /// The final objects depend on the number of versions migrated at once.
        case contentsDiffer
        /// The counts of the reports depend on that number.
        case reportsDiffer
    }

    /// The kind of the finding.
    public let code: Code
    /// The version of the golden store.
    public let from: Schema.Version
    /// The version that it was migrated to; nil if there was no migration.
    public let to: Schema.Version?
    /// The finding, and the remedy.
    public let message: String
    /// The error of the store.
    public let cause: (any Error)?

    init(
        _ code: Code, from: Schema.Version, to: Schema.Version?, _ message: String, cause: (any Error)? = nil
    ) {
        self.code = code
        self.from = from
        self.to = to
        self.message = message
        self.cause = cause
    }

    /// The message, with the cause in parentheses if there is one.
    public var description: String { cause.map { "\(message) (\($0))" } ?? message }
}
