import Glibc

/// Another process of this tool: its output is read line by line, its error messages go where this process's go.
final class ChildProcess {
    private let child: pid_t
    private let descriptor: Int32
    private let hasOwnGroup: Bool
    private var pending: [UInt8] = []
    private var isReaped = false

    /// Starts the tool.
    ///
    /// - Parameters:
    ///   - arguments: The arguments after the tool's name.
    ///   - hasOwnGroup: Whether it and its children make a group, so that `kill` ends all of them.
    /// - Throws: `SourceError` when there is no process for it.
    init(_ arguments: [String], hasOwnGroup: Bool = false) throws(SourceError) {
        self.hasOwnGroup = hasOwnGroup
        let tool = "/proc/self/exe"
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SourceError(.cannotStart, path: tool, errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        if hasOwnGroup {
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
            posix_spawnattr_setpgroup(&attributes, 0)
        }
        var words = (["faultline"] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var started: pid_t = 0
        let status = posix_spawn(&started, tool, &actions, &attributes, words, environ)
        close(ends[1])
        child = started
        descriptor = ends[0]
        guard status == 0 else {
            close(ends[0])
            isReaped = true
            throw SourceError(.cannotStart, path: tool, errno: status)
        }
    }

    deinit {
        guard !isReaped else { return }
        kill()
    }

    /// The next line of its output, without the line's end; nil when it has closed it.
    func line() -> String? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeFirst(end + 1)
                return line
            }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                guard !pending.isEmpty else { return nil }
                let line = String(decoding: pending, as: UTF8.self)
                pending = []
                return line
            }
            pending.append(contentsOf: bytes[..<count])
        }
    }

    /// Waits until its output is readable or closed, at most the given seconds; false when the time is over.
    func waitForOutput(seconds: Double) -> Bool {
        if pending.contains(UInt8(ascii: "\n")) { return true }
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, Int32(max(0, seconds * 1000))) != 0
    }

    /// Ends it, and its group if it has one, by SIGKILL.
    func kill() {
        _ = Glibc.kill(hasOwnGroup ? -child : child, SIGKILL)
        _ = finish()
        // The rest of the group ends a moment later, and must release its locks first. A process that its new parent
        // does not reap is not waited for.
        for _ in 0..<40 where hasOwnGroup && Glibc.kill(-child, 0) == 0 { usleep(5_000) }
    }

    /// Waits for its end and gives the exit status; 128 and the signal's number where a signal ended it.
    func finish() -> Int32 {
        close(descriptor)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        isReaped = true
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
    }
}
