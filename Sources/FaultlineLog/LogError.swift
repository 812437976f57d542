package import FaultlineDisk

/// An error of the log: the kind, a message with the remedy, and the place.
package struct LogError: Error, Sendable, CustomStringConvertible {
    /// The kind of error, as far as a caller may want to act on it.
    package enum Code: String, Sendable, CaseIterable {
        /// The path holds nothing that could be a store, and creating one was not requested or is impossible.
        case notAStore
        /// The store was written by a newer version.
        case newerFormat
        /// Bytes differ from the written ones.
        case damaged
        /// Another process or handle holds the store.
        case lockedByAnother
        /// The store or this opening of it cannot be written.
        case readOnly
        /// No space left.
        case fullDisk
        /// The operating system reported an error.
        case failedDisk
        /// An earlier write failed; nothing is written until the store is opened again.
        case poisoned
        /// The open store's directory was removed, moved or replaced; nothing more is written.
        case removed
        /// Only opening the store again shows whether this transaction is stored.
        case outcomeUnknown
        /// The store was closed.
        case closed
        /// A value exceeds a limit of the format.
        case tooLarge
        /// The object does not exist.
        case missing
        /// A pinned state of the store has outlived its limits.
        case expired
        /// The transaction was abandoned by `abandon()`.
        case abandoned
    }

    package let code: Code
    /// What happened and what to do, in full sentences.
    package let message: String
    /// The file or directory.
    package let path: String?
    /// The offset in the file, in bytes from its start.
    package let offset: UInt64?
    /// The error of the operating system.
    package let cause: DiskError?
    /// The transaction whose outcome is unknown, if it may have landed: the argument for `Log.landed`.
    package private(set) var transaction: TransactionID?
    /// The least number of transactions missing at the end of the log, if the store is refused because of that.
    package private(set) var missingTransactionCount: UInt64?

    package init(_ code: Code, _ message: String, path: String? = nil, offset: UInt64? = nil, cause: DiskError? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.offset = offset
        self.cause = cause
    }

    /// The same error with its transaction, if the outcome of that is unknown.
    func about(_ transaction: TransactionID) -> LogError {
        var error = self
        if code == .outcomeUnknown || code == .removed { error.transaction = transaction }
        return error
    }

    package var description: String {
        var text = message
        if let path {
            text += " [\(path)"
            if let offset { text += ", offset \(offset)" }
            text += "]"
        }
        guard let cause else { return text }
        // The message has the remedy, and mostly the path.
        if cause.path != path { text += " \(cause.path):" }
        return text + " (\(code == .fullDisk ? cause.call : cause.fact))"
    }
}

extension LogError {
    /// An error of the disk while `doing` something, such as "reading a record".
    package init(_ cause: DiskError, doing: String) {
        let code: Code
        let remedy: String
        switch cause.code {
        case .noSpace, .quotaExceeded, .fileTooLarge:
            code = .fullDisk
            remedy = "Make room on the file system, then open the store again."
        case .permissionDenied, .readOnlyFileSystem, .notWritable:
            code = .readOnly
            remedy = "Give this process the right to write there, or open the store for reading."
        case .notDirectory:
            code = .notAStore
            remedy = "A store is a directory, and this path names a file: give another path."
        case .notFound:
            code = .failedDisk
            remedy = "A file that should be there is missing; restore it from a backup."
        case .gone, .tooManyOpenFiles:
            code = .failedDisk
            remedy = cause.remedy
        default:
            code = .failedDisk
            remedy = "Check the disk and the system's log, then open the store again."
        }
        self.init(
            code, "The disk failed while \(doing). \(remedy)", path: cause.path, offset: cause.offset, cause: cause)
    }

    /// An error of the disk.
    package init(_ cause: DiskError) {
        self.init(cause, doing: "reading or writing a file of the store")
    }

    /// Damage found in a file.
    static func damaged(_ what: String, _ path: String, _ offset: UInt64? = nil) -> LogError {
        LogError(.damaged, "\(what) \(damageRemedy)", path: path, offset: offset)
    }

    /// The remedy for damage.
    package static let damageRemedy =
        "Restore the store from a backup, or get out what still verifies by `faultline salvage`."

    /// The error for a log that lacks transactions which were durable.
    init(lost tail: LostTail) {
        self.init(
            .damaged,
            "The log ends behind transaction \(tail.found), and at least \(tail.count) more had been synchronized, as "
                + "\(tail.witness.path) says at offset \(tail.witness.offset): the file was cut off, or is an older "
                + "copy. \(Self.lostTailRemedy)",
            path: tail.path, offset: tail.offset)
        missingTransactionCount = tail.count
    }

    /// The remedy for a log that lacks its end.
    package static let lostTailRemedy =
        "Restore the store from a backup, or go on without the lost transactions by `faultline repair STORE --accept-loss`."

    /// The message without the remedy for damage.
    package var fault: String {
        for remedy in [Self.damageRemedy, Self.derivedRemedy, Self.lostTailRemedy] where message.hasSuffix(remedy) {
            return String(message.dropLast(remedy.count + 1))
        }
        return message
    }

    /// The error for data that verifies but that this version does not know.
    static func newerFormat(_ what: String, _ path: String?, _ offset: UInt64? = nil) -> LogError {
        LogError(
            .newerFormat, "\(what) of a newer format. Nothing was changed; open the store with a newer version.",
            path: path, offset: offset)
    }

    /// The error of every write after one that failed.
    ///
    /// - Parameters:
    ///   - failure: The error of the write that failed. For a removed directory every caller gets this error itself.
    ///   - consequence: The rest of the sentence "An earlier write failed".
    /// - Returns: The error.
    static func poisoned(by failure: LogError, _ consequence: String) -> LogError {
        guard failure.code != .removed else { return failure }
        return LogError(
            .poisoned, "An earlier write failed\(consequence) Open the store again. (\(failure.message))",
            path: failure.path, offset: failure.offset, cause: failure.cause)
    }

    package static func closed(_ path: String) -> LogError {
        LogError(.closed, "The store was closed. Open it again.", path: path)
    }

    static func tooLarge(_ what: String) -> LogError {
        LogError(.tooLarge, what)
    }
}

/// Runs a call of the disk and converts its error to the layer's type.
@inline(__always)
package func onDisk<R>(_ doing: @autoclosure () -> String, _ body: () throws(DiskError) -> R) throws(LogError) -> R {
    do {
        return try body()
    } catch {
        throw LogError(error, doing: doing())
    }
}
