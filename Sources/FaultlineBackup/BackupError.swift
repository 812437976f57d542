internal import FaultlineLog

/// Why a backup or a restore was refused, or stopped.
///
/// The store, and the backups that were finished before, are unchanged.
public struct BackupError: Error, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: String, Sendable, CaseIterable {
        /// There is no store, or there are no backups, in the directory.
        case notFound
        /// The directory holds backups already, or other files; or it is the store's own.
        case unsuitable
        /// The backups are of another store, or of another copy of this one.
        case otherStore
        /// A file of the store, or of a backup, differs from the written one.
        case damaged
        /// No backup holds that moment.
        case notInBackups
        /// The log of the store does not have that moment, or no longer.
        case notInLog
        /// Another backup of the store, into the directory, or another restore is under way.
        case underWay
        /// The disk has too little room.
        case fullDisk
        /// A newer release wrote the backups.
        case newerFormat
    }

    /// The kind of error, for programs.
    public let code: Code
    /// What happened and what to do, in full sentences.
    public let message: String
    /// The file or directory.
    public let path: String

    package init(_ code: Code, _ message: String, path: String) {
        self.code = code
        self.message = message
        self.path = path
    }

    /// The message and the place.
    public var description: String { "\(message) (\(path))" }
}

extension BackupError {
    init(_ error: StoreCopyError, path: String) {
        let code: Code =
            switch error {
            case .underWay: .underWay
            case .foreignFile, .removed: .unsuitable
            case .noRoom: .fullDisk
            }
        self.init(code, error.description, path: path)
    }

    /// The error for bytes of the store that do not verify; nil for other errors.
    init?(damage error: LogError, of store: String) {
        guard error.code == .damaged else { return nil }
        self.init(
            .damaged,
            "The store is damaged, so no backup was made: \(error.message) Verify the store, and restore it from an earlier backup, or repair it.",
            path: error.path.map { path in error.offset.map { "\(path) at byte \($0)" } ?? path } ?? store)
    }
}
