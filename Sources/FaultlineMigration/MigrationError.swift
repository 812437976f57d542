internal import FaultlineStore

/// Why a migration was refused or stopped.
///
/// The store is in its old state, or resumes where it was.
public struct MigrationError: Error, Sendable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Code: Sendable, Equatable {
        /// The store's schema is none of the plan's.
        case unknownVersion
        /// The store is newer than the plan.
        case backward
        /// The plan lacks a stage, has two versions that are alike, or its stages do not form a chain.
        case badPlan
        /// A change needs a default value or a stage.
        case notLightweight
        /// Two objects have the same values where the new version asks for unique ones.
        case duplicate
        /// The closure of a stage threw, wrote something that cannot be, or caught an error that its context met.
        case stageFailed
        /// The store could not be read or written.
        case storage
    }

    /// What kind of trouble it is, for code that acts on it.
    public let code: Code
    /// What happened and what to do.
    public let message: String
    /// What the closure or the store threw.
    public let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message, with the cause in parentheses if there is one.
    public var description: String {
        cause.map { "\(message) (\($0))" } ?? message
    }

    /// The form of an error that says what it means for the migration; any other stays as it is.
    static func translating(_ error: any Error) -> any Error {
        guard let error = error as? StoreError, error.code == .duplicate else { return error }
        return MigrationError(.duplicate, "\(error.message) The store is in its old state.")
    }
}
