public import Faultline

/// What a run of a plan's paths found.
public struct MigrationTestError: Error, CustomStringConvertible {
    /// The kinds of findings.
    public enum Code: Hashable, Sendable {
        /// A version has no golden store.
        case missing
        /// A store did not open; `cause` says why.
        case failed
        /// The objects at the end depend on how many versions are gone through at once.
        case contentsDiffer
        /// The counts of the reports do.
        case reportsDiffer
    }

    /// What kind of finding it is.
    public let code: Code
    /// The version of the golden store.
    public let from: Schema.Version
    /// The version that it was brought to; nil where it did not come to that.
    public let to: Schema.Version?
    /// What was found, and what to do.
    public let message: String
    /// What the store threw.
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
