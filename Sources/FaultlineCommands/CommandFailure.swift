import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineModel
import FaultlineObjects
import FaultlineStore
import Glibc

/// Why a command ends without success: a message for people, and an exit status for scripts.
package struct CommandFailure: Error, Sendable {
    /// A check found damage, or the operation was refused.
    package static let refused: Int32 = 1
    package static let wrongUsage: Int32 = 2
    package static let cannotOpen: Int32 = 3

    package let status: Int32
    /// The problem and a remedy, with file and byte offset if there are any.
    package let message: String
    /// The error of the library that ended the command; nil if there is none.
    package let cause: (any Error)?

    package init(_ status: Int32, _ message: String, cause: (any Error)? = nil) {
        self.status = status
        self.message = message
        self.cause = cause
    }

    /// Runs code that opens a store; its errors end the tool with status 3.
    package static func opening<Result>(_ path: String, _ body: () throws -> Result) throws(CommandFailure) -> Result {
        do {
            return try body()
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(cannotOpen, "\(path) cannot be opened. \(sentence(for: error))", cause: error)
        }
    }

    /// Runs code that works on an open store; its errors end the tool with status 1.
    package static func working<Result>(_ body: () throws -> Result) throws(CommandFailure) -> Result {
        do {
            return try body()
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(refused, sentence(for: error))
        }
    }

    /// The message of an error, with its place.
    package static func sentence(for error: any Error) -> String {
        switch error {
        case let failure as CommandFailure: failure.message
        case let error as StoreError: error.cause.map { "\($0)" } ?? error.message
        case let error as MigrationError:
            [error.message, error.cause.map(sentence)].compactMap { $0 }.joined(separator: " ")
        default: "\(error)"
        }
    }
}

/// Ends the process.
package func endProcess(_ status: Int32) -> Never { exit(status) }
