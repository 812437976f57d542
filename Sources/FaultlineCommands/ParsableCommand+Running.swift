package import ArgumentParser

extension ParsableCommand {
    /// Parses arguments and runs the command, and ends the process if the command returns a status.
    ///
    /// - Parameter arguments: The arguments after the executable's name; nil for those of the process.
    package static func runAndExit(_ arguments: [String]?) {
        do {
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch let failure as CommandFailure {
            Terminal.messages.write("\(configuration.commandName ?? "\(Self.self)"): \(failure.message)\n")
            endProcess(failure.status)
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            Terminal.messages.write(fullMessage(for: error) + "\n")
            endProcess(CommandFailure.wrongUsage)
        }
    }
}
