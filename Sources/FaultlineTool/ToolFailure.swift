import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineModel
import FaultlineObjects
import FaultlineStore
import Glibc

/// Why a command ends without having done its work: what people read, and the exit status that scripts read.
struct ToolFailure: Error, Sendable {
    /// A check found damage, or the operation was refused.
    static let refused: Int32 = 1
    static let wrongUsage: Int32 = 2
    static let cannotOpen: Int32 = 3

    let status: Int32
    /// What happened and what to do, with file and byte offset where there are any.
    let message: String

    init(_ status: Int32, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Runs what opens a store; its errors end the tool with status 3.
    static func opening<Result>(_ path: String, _ body: () throws -> Result) throws(ToolFailure) -> Result {
        do {
            return try body()
        } catch let failure as ToolFailure {
            throw failure
        } catch {
            throw ToolFailure(cannotOpen, "\(path) cannot be opened. \(sentence(for: error))")
        }
    }

    /// Runs what works on an open store; its errors end the tool with status 1.
    static func working<Result>(_ body: () throws -> Result) throws(ToolFailure) -> Result {
        do {
            return try body()
        } catch let failure as ToolFailure {
            throw failure
        } catch {
            throw ToolFailure(refused, sentence(for: error))
        }
    }

    /// What an error says, with its place.
    static func sentence(for error: any Error) -> String {
        switch error {
        case let failure as ToolFailure: failure.message
        case let error as StoreError: error.cause.map { "\($0)" } ?? error.message
        case let error as MigrationError:
            [error.message, error.cause.map(sentence)].compactMap { $0 }.joined(separator: " ")
        default: "\(error)"
        }
    }
}

/// Ends the process.
func endProcess(_ status: Int32) -> Never { exit(status) }
