import CrashSimulation
import FaultlineDisk
import FaultlineTestSupport
import Glibc
import Synchronization

/// The process to be killed, and the pipe from it.
struct KillProcess: ~Copyable {
    private let process: pid_t
    private let pipe: Int32
    /// The beginning of a message that has not fully arrived.
    private var rest: [UInt8] = []
    private(set) var isAtEnd = false

    /// Starts this executable again.
    ///
    /// - Throws: System errors.
    init(_ arguments: [String]) throws {
        (process, pipe) = try Self.starting.withLock { _ in try Self.start(arguments) }
    }

    /// Starts one process at a time, so that none inherits the pipe of another.
    private static let starting = Guarded(())

    private static func start(_ arguments: [String]) throws -> (process: pid_t, pipe: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw NotStarted(call: "pipe", errorNumber: errno) }
        defer { close(ends[1]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var words: [UnsafeMutablePointer<CChar>?] = (["FaultlineProofs"] + arguments).map { strdup($0) }
        defer { words.forEach { free($0) } }
        words.append(nil)
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        var process = pid_t()
        let status = posix_spawn(&process, "/proc/self/exe", &actions, nil, words, &environment)
        guard status == 0 else {
            close(ends[0])
            throw NotStarted(call: "posix_spawn", errorNumber: status)
        }
        return (process, ends[0])
    }

    deinit {
        close(pipe)
    }

    /// Waits for messages, up to the given time.
    ///
    /// - Returns: The received messages. None means that the time is over, or that the pipe is at its end.
    mutating func messages(waiting milliseconds: Int) throws -> [KillMessage] {
        var wanted = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
        guard !isAtEnd, poll(&wanted, 1, Int32(clamping: milliseconds)) > 0 else { return [] }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = buffer.withUnsafeMutableBytes { read(pipe, $0.baseAddress, $0.count) }
        guard count > 0 else {
            isAtEnd = true
            return []
        }
        rest += buffer[..<count]
        var messages: [KillMessage] = []
        var start = 0
        while start + KillMessage.byteCount <= rest.count {
            let message = rest.withUnsafeBytes { bytes in
                KillMessage(reading: UnsafeRawBufferPointer(rebasing: bytes[start..<start + KillMessage.byteCount]))
            }
            guard let message else { throw NotUnderstood() }
            messages.append(message)
            start += KillMessage.byteCount
        }
        rest.removeFirst(start)
        return messages
    }

    func kill() { _ = Glibc.kill(process, SIGKILL) }

    /// Calls `body` while the process stands still.
    func stopped<R>(_ body: () throws -> R) throws -> R {
        _ = Glibc.kill(process, SIGSTOP)
        var status: Int32 = 0
        while waitpid(process, &status, WUNTRACED) < 0, errno == EINTR {}
        // The low byte is that of a stopped process.
        guard status & 0xFF == 0x7F else { throw CrashViolation("the process ended by itself") }
        defer { _ = Glibc.kill(process, SIGCONT) }
        return try body()
    }

    /// Waits for the process to end.
    ///
    /// - Returns: Whether the kill ended it. Otherwise, it ended earlier by itself.
    func wasKilled() -> Bool {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == SIGKILL
    }

    private struct NotStarted: Error {
        let call: String
        let errorNumber: Int32
    }

    private struct NotUnderstood: Error {}
}
