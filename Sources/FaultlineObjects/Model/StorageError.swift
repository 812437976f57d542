internal import FaultlineLog
internal import FaultlineStore

/// An error of the store: in opening, reading and writing its files, or in the rules between its objects.
///
/// Thrown by containers and contexts, and passed to a context's error handler. No acknowledged data is lost with any of
/// these except `storeRemoved`, and `damaged` if `missingTransactionCount` says so. When a save throws, nothing of it
/// is stored unless the code is `outcomeUnknown` or `storeRemoved`.
public struct StorageError: Error, Sendable, CustomStringConvertible {
    /// The kind of error, for programs.
    ///
    /// Messages may change, codes do not.
    public enum Code: String, Sendable, CaseIterable {
        /// The path has no store, and none can be made there.
        case notAStore
        /// A newer release wrote the store.
        case newerFormat
        /// Bytes differ from the written ones; `path` and `offset` say where.
        case damaged
        /// Another process, or another part of this one, has the store open for writing.
        case lockedByAnother
        /// The store, or this container of it, cannot be written.
        case readOnly
        /// The disk has no space left.
        ///
        /// Reading still works.
        case fullDisk
        /// The operating system reported an error of the disk.
        case failedDisk
        /// An earlier write failed: nothing is written until the store is opened again.
        ///
        /// Reading still works.
        case writingStopped
        /// The store's directory was removed, moved or replaced while the store was open: nothing more is written.
        ///
        /// A save that ends with it is lost, or is in the directory that was moved. Reading works as far as files are
        /// still open.
        case storeRemoved
        /// Whether the save is stored can only be known after the store is opened again.
        case outcomeUnknown
        /// The store was closed.
        case closed
        /// Something exceeds a limit of the format.
        case tooLarge
        /// The object is no longer in the store, or another has its place.
        case missing
        /// The context was pinned to a state of the store for longer, or at a larger cost, than its limits allow.
        case expired
        /// The store was migrated, or is being migrated, since the container was made.
        case outdated
        /// The requested bytes lie outside the value.
        case outOfRange
        /// A call of `ModelContainer.perform` has waited too long for a thread, or for the opening of its store: its
        /// code has not begun.
        case busy
    }

    /// The kind of error.
    public let code: Code
    /// The problem and a remedy, in full sentences.
    public let message: String
    /// The file or directory, if there is one.
    public let path: String?
    /// The place in the file, in bytes from its start.
    public let offset: UInt64?
    /// The save whose outcome is unknown, for `ModelContainer.transactionLanded(_:)` when the store is open again; nil
    /// with other codes, and if the save cannot have been written completely.
    public let transaction: TransactionIdentifier?
    /// The least number of saves that are missing at the end of the store, if that is the damage; nil otherwise.
    ///
    /// `faultline repair STORE --accept-loss` opens such a store without them.
    public let missingTransactionCount: UInt64?
    private let text: String
    /// Whether it was thrown where a container is made.
    private var isOfOpening = false

    /// The message, the place, and the error text of the operating system.
    public var description: String { text }

    private init(_ code: Code, _ message: String, of error: LogError?) {
        self.code = code
        self.message = message
        path = error?.path
        offset = error?.offset
        missingTransactionCount = error?.missingTransactionCount
        transaction = error?.transaction.map { TransactionIdentifier($0) }
        text = error?.description ?? message
    }

    /// The error for a range that a value does not have.
    init(outOfRange range: Range<Int>, ofByteCount byteCount: Int) {
        self.init(
            .outOfRange,
            "The bytes \(range) of a value of \(byteCount) bytes were asked for. Ask for a range within 0..<\(byteCount).",
            of: nil)
    }

    /// The error for a call that no thread was free for.
    init(busy wait: Duration, underWay: Int, waiting: Int) {
        self.init(
            .busy,
            "The store's executors had no room for a call of perform within \(wait): \(underWay) calls are under way, and \(waiting) others wait. Nothing was done. Try again later, allow a longer wait, or set more threads in StoreOptions.performing.",
            of: nil)
    }

    /// The error for a call that has waited too long for something else than a thread.
    package init(busy message: String) { self.init(.busy, message, of: nil) }

    init(_ error: LogError) {
        let code: Code =
            switch error.code {
            case .notAStore: .notAStore
            case .newerFormat: .newerFormat
            case .damaged: .damaged
            case .lockedByAnother: .lockedByAnother
            case .readOnly: .readOnly
            case .fullDisk: .fullDisk
            case .failedDisk: .failedDisk
            case .poisoned: .writingStopped
            case .outcomeUnknown: .outcomeUnknown
            case .removed: .storeRemoved
            case .closed: .closed
            case .tooLarge: .tooLarge
            case .missing: .missing
            case .expired: .expired
            // A dropped transaction throws its cause; this code remains.
            case .abandoned: .writingStopped
            }
        self.init(code, error.message, of: error)
    }

    init(_ error: StoreError) {
        if let cause = error.cause {
            self.init(cause)
            return
        }
        let code: Code =
            switch error.code {
            case .log, .malformed: .damaged
            case .schemaMismatch, .outdated: .outdated
            // A save reports both as `SwiftDataError.modelValidationFailure`.
            case .duplicate, .missing: .missing
            case .tooLarge, .exhausted: .tooLarge
            }
        self.init(code, error.message, of: nil)
    }

    /// The public form of an engine's error; any other error is returned unchanged.
    package static func translating(_ error: any Error) -> any Error {
        switch error {
        case let error as LogError: StorageError(error)
        case let error as StoreError: StorageError(error)
        default: error
        }
    }

    /// Calls `body`, and throws the public form of its error.
    @inline(__always)
    package static func translating<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch { throw translating(error) }
    }
}

extension StorageError: SwiftDataNamed {
    package func isNamed(_ error: SwiftDataError) -> Bool { isOfOpening && error == .loadIssueModelContainer }

    /// Calls `body`, which makes a container, and throws the public form of its error.
    package static func opening<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch {
            guard var error = translating(error) as? StorageError else { throw error }
            error.isOfOpening = true
            throw error
        }
    }
}
