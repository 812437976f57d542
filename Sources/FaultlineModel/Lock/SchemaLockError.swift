/// The reason why a lock cannot be made or read, or does not match a plan.
public struct SchemaLockError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: Hashable, Sendable {
        /// Two versions have the same number.
        case numberTwice
        /// Two versions look the same.
        case fingerprintTwice
        /// The text is not a lock, or was changed by hand.
        case malformed
        /// The file cannot be read or written.
        case file
        /// The plan does not match the lock; `message` shows the difference.
        case differs
    }

    /// The kind of the error.
    public let code: Code
    /// The version with the error; nil if there is none, or several.
    public let version: Schema.Version?
    /// The problem and the remedy.
    public let message: String

    package init(_ code: Code, _ version: Schema.Version? = nil, _ message: String) {
        self.code = code
        self.version = version
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
