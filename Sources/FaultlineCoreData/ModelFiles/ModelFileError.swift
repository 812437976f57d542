/// The reason why a model file cannot be read, and the place in it.
public struct ModelFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: String, Sendable, CaseIterable {
        /// There is no such file, or a package lacks a part.
        case missing
        /// The system refuses to read the file.
        case unreadable
        /// The file is of another kind than a model.
        case foreign
        /// The file breaks the rules of its format, or it ends too early.
        case malformed
        /// The file exceeds a bound, or declares entities, which could expand without end.
        case tooLarge
        /// The values of a property list contain each other.
        case cyclic
        /// A newer tool wrote the file.
        case newer
        /// A tool from before 2012 wrote the file.
        case older
    }

    /// The kind of the error.
    public let code: Code
    /// The file.
    public let path: String
    /// The line, from 1; nil for binary files.
    public let line: Int?
    /// The column, from 1; nil for binary files.
    public let column: Int?
    /// The offset in bytes; nil for text.
    public let offset: Int?
    /// The problem and the remedy.
    public let message: String

    init(
        _ code: Code, _ path: String, line: Int? = nil, column: Int? = nil, offset: Int? = nil, _ message: String
    ) {
        self.code = code
        self.path = path
        self.line = line
        self.column = column
        self.offset = offset
        self.message = message
    }

    /// The file, the place, and the message.
    public var description: String {
        let numbers = [line, column].compactMap { $0 }.map(String.init)
        let place = offset.map { " at byte \($0)" } ?? (numbers.isEmpty ? "" : ":" + numbers.joined(separator: ":"))
        return "\(path)\(place): \(message)"
    }
}
