import Glibc

/// The common parts of proof executables: the command line, the exit status, lines for people.
package enum ProofShell {
    /// Runs the command on the command line, and ends the process: with the status of the command, with 2 if the
    /// command line is invalid, with 1 if the command failed.
    ///
    /// - Parameters:
    ///   - name: The executable.
    ///   - usage: Its commands, for people.
    ///   - body: Runs a command with a name and arguments; nil if there is none of that name.
    package static func run(
        _ name: String, usage: String, _ body: (_ command: String, _ arguments: [String]) throws -> Int32?
    ) -> Never {
        let words = CommandLine.arguments.dropFirst()
        do {
            guard let command = words.first else { throw WrongUsage(message: "a command is needed") }
            guard let status = try body(command, Array(words.dropFirst())) else {
                throw WrongUsage(message: "there is no command \(command)")
            }
            exit(status)
        } catch let error as WrongUsage {
            note("\(name): \(error.message)\n\(usage)")
            exit(2)
        } catch {
            note("\(name): \(error)")
            exit(1)
        }
    }

    /// Writes a line for people, on the standard error.
    package static func note(_ text: String) {
        let line = text + "\n"
        _ = write(2, line, line.utf8.count)
    }
}

/// The error of an invalid command line.
package struct WrongUsage: Error {
    /// The mistake, for people.
    package let message: String

    /// Makes an error with a message.
    package init(message: String) {
        self.message = message
    }
}
