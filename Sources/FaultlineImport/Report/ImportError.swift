#if Import
/// The reason why a store cannot be imported.
public struct ImportError: Error, CustomStringConvertible, Sendable {
    /// The kind of failure.
    public enum Code: String, Sendable {
        /// The file is not an SQLite database, or it is encrypted.
        case notAStore
        /// The database has a format that this SQLite, or this release, does not know.
        case newer
        /// The database is damaged or has lost its end.
        case damaged
        /// A file cannot be opened or read.
        case unreadable
        /// The model and the store do not fit together.
        case modelMismatch
        /// The destination exists, or belongs to the import of another store.
        case occupied
        /// The source was written to while it was read.
        case changed
        /// The destination cannot be written.
        case unwritable
    }

    /// The kind of failure.
    public let code: Code
    /// The problem and the remedy, with the file.
    public let message: String
    /// The file; nil if it is not about one.
    public let path: String?
    /// The entity that does not fit; nil if it is not about one.
    public let entity: String?

    init(_ code: Code, _ message: String, path: String? = nil, entity: String? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.entity = entity
    }

    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}
#endif
