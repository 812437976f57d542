import Glibc

/// The output of a command, read as a stream while the command runs.
///
/// Its standard input is empty, its error messages are dropped, and its language is set to `C`.
package final class ChildOutput {
    private let command: String
    private let descriptor: Int32
    private let child: pid_t
    private var isReaped = false

    /// Starts the command; it is looked for in `PATH`.
    ///
    /// - Parameter arguments: The command and its arguments, at least one text.
    /// - Throws: `SourceError.Code.cannotStart` when there is no such command or no process for it.
    package init(_ arguments: [String]) throws(SourceError) {
        command = arguments.joined(separator: " ")
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SourceError(.cannotStart, path: command, errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)

        var started: pid_t = 0
        let status = Self.withCStrings(arguments) { words in
            Self.withCStrings(Self.environment()) { environment in
                posix_spawnp(&started, arguments[0], &actions, nil, words, environment)
            }
        }
        close(ends[1])
        child = started
        descriptor = ends[0]
        guard status == 0 else {
            close(ends[0])
            isReaped = true
            throw SourceError(.cannotStart, path: command, errno: status)
        }
    }

    deinit {
        guard !isReaped else { return }
        close(descriptor)
        kill(child, SIGKILL)
        waitpid(child, nil, 0)
    }

    /// Fills `memory` as far as one read goes; 0 once the command has closed its output.
    package func read(into memory: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        try readSome(descriptor, into: memory, path: command)
    }

    /// Waits for the command to end.
    ///
    /// - Throws: `SourceError.Code.commandFailed` unless its exit status is 0.
    package func finish() throws(SourceError) {
        close(descriptor)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        isReaped = true
        guard status == 0 else {
            let words =
                status & 0x7F == 0 ? "ended with status \(status >> 8 & 0xFF)" : "was ended by signal \(status & 0x7F)"
            throw SourceError(.commandFailed, path: command, message: "the command \(words)")
        }
    }

    /// This process's environment with the language set to `C`.
    private static func environment() -> [String] {
        var lines = ["LC_ALL=C"]
        var place = environ
        while let entry = place.pointee {
            let line = String(cString: entry)
            if !line.hasPrefix("LC_ALL=") { lines.append(line) }
            place += 1
        }
        return lines
    }

    private static func withCStrings<Result>(
        _ texts: [String],
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var copies = texts.map { strdup($0) }
        copies.append(nil)
        defer { for copy in copies { free(copy) } }
        return copies.withUnsafeMutableBufferPointer { all in
            guard let base = all.baseAddress else { preconditionFailure("the array holds at least its end mark") }
            return body(base)
        }
    }
}

/// Reads once into `memory`, again after an interruption.
func readSome(
    _ descriptor: Int32,
    into memory: UnsafeMutableRawBufferPointer,
    path: @autoclosure () -> String
) throws(SourceError) -> Int {
    while true {
        let count = Glibc.read(descriptor, memory.baseAddress, memory.count)
        if count >= 0 { return count }
        guard errno == EINTR else { throw SourceError(.cannotRead, path: path(), errno: errno) }
    }
}
