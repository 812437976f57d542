import Glibc

/// Why a source of the demo could not be read.
package struct SourceError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: Sendable, Equatable {
        case cannotOpen
        case cannotRead
        case cannotWrite
        case cannotStart
        case commandFailed
        case changedWhileReading
    }

    package let code: Code
    /// The problem and a remedy, in one sentence.
    package let message: String
    /// The file, folder or command.
    package let path: String

    package var description: String { "\(path): \(message)" }

    init(_ code: Code, path: String, message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    init(_ code: Code, path: String, errno number: Int32) {
        self.init(code, path: path, message: String(cString: strerror(number)))
    }
}
