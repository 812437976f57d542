/// Why a lock could not be made or read, or does not agree with a plan.
public struct SchemaLockError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of trouble.
    public enum Code: Hashable, Sendable {
        /// Two versions have the same number.
        case numberTwice
        /// Two versions look the same.
        case fingerprintTwice
        /// The text is not a lock, or was changed by hand.
        case malformed
        /// The file cannot be read or written.
        case file
        /// The plan is not what the lock says; `message` shows the difference.
        case differs
    }

    /// What kind of trouble it is.
    public let code: Code
    /// The version that it is about; nil if it is about none, or about several.
    public let version: Schema.Version?
    /// What is wrong and what to do.
    public let message: String

    package init(_ code: Code, _ version: Schema.Version? = nil, _ message: String) {
        self.code = code
        self.version = version
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
