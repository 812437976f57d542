import Glibc

/// A program run by this one; its errors go to this process's standard error.
package struct ChildProcess {
    private let identifier: pid_t
    /// The descriptor to read its output; negative if that goes to this process's output.
    private let output: Int32

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: Its path; `/proc/self/exe` is this program.
    ///   - words: The words after the name on the command line.
    ///   - readsOutput: Whether its standard output is read here.
    /// - Throws: `.storage` if it cannot be started.
    package init(_ program: String, _ words: [String], readsOutput: Bool) throws(BenchmarkError) {
        var ends: [Int32] = [-1, -1]
        if readsOutput {
            guard pipe(&ends) == 0 else { throw .storage(program, "make a pipe") }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        if readsOutput { posix_spawn_file_actions_adddup2(&actions, ends[1], 1) }
        var arguments = ([program] + words).map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var started: pid_t = 0
        let status = posix_spawn(&started, program, &actions, nil, arguments, environ)
        if readsOutput { close(ends[1]) }
        identifier = started
        output = ends[0]
        guard status == 0 else {
            if readsOutput { close(ends[0]) }
            errno = status
            throw .storage(program, "start it")
        }
    }

    /// Reads the first line of its output.
    ///
    /// - Throws: `.storage` if it ends before.
    package func line() throws(BenchmarkError) -> String {
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(output, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            guard count == 1 else { throw BenchmarkError(.storage, "a process ended before its first line") }
            if byte == 10 { return String(decoding: text, as: UTF8.self) }
            text.append(byte)
        }
    }

    /// Reads its whole output, and waits for its end.
    ///
    /// - Throws: `.storage` if it ends with another status than 0.
    package func finish() throws(BenchmarkError) -> String {
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while output >= 0 {
            let count = read(output, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            text += piece[..<count]
        }
        let status = reap()
        guard status == 0 else { throw BenchmarkError(.storage, "a process of this run ended with status \(status)") }
        return String(decoding: text, as: UTF8.self)
    }

    /// Ends it by SIGKILL.
    ///
    /// - Throws: `.storage` if it had ended by itself before.
    package func kill() throws(BenchmarkError) {
        _ = Glibc.kill(identifier, SIGKILL)
        let status = reap()
        guard status == 128 + SIGKILL else {
            throw BenchmarkError(.storage, "the process to be killed ended by itself, with status \(status)")
        }
    }

    /// The exit status, or 128 and the signal's number.
    private func reap() -> Int32 {
        if output >= 0 { close(output) }
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}
