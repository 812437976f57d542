import Glibc

/// What executables of proofs have in common: the command line, the exit status, lines for people.
package enum ProofShell {
    /// Runs the command that the command line names, and ends the process: with the status of the command, with 2 if
    /// the command line is not understood, with 1 if it failed.
    ///
    /// - Parameters:
    ///   - name: The executable.
    ///   - usage: Its commands, for people.
    ///   - body: Runs one, given its name and arguments; nil if there is none of that name.
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

/// The command line says something that is not understood.
package struct WrongUsage: Error {
    /// What, for people.
    package let message: String

    /// Says what.
    package init(message: String) {
        self.message = message
    }
}
