/// A transaction: the state of a store after it can be named.
public struct BackupMoment: Sendable, Equatable, Codable {
    /// Its number; 0 for the empty store.
    public let transaction: UInt64
    /// When it was saved, in nanoseconds since 1970; 0 for the empty store.
    public let nanoseconds: Int64

    package init(transaction: UInt64, nanoseconds: Int64) {
        self.transaction = transaction
        self.nanoseconds = nanoseconds
    }
}

/// A finished backup.
public struct Backup: Sendable, Equatable {
    /// Its number in its directory, from 1.
    public let number: Int
    /// When it was begun, in nanoseconds since 1970.
    public let nanoseconds: Int64
    /// The oldest state that can be restored from it.
    public let first: BackupMoment
    /// The newest state that can be restored from it: all transactions that were acknowledged before it was begun are in
    /// it.
    public let last: BackupMoment
    /// Bytes of its files, those included that it shares with others.
    public let byteCount: UInt64
}

/// The work of a backup.
public struct BackupReport: Sendable, Equatable {
    /// The backup.
    public let backup: Backup
    /// The number of its files.
    public let fileCount: Int
    /// The number of files of which bytes were copied; the others were there already.
    public let copiedFileCount: Int
    /// Bytes that were copied.
    public let copiedByteCount: UInt64
    /// The numbers of older backups that were removed.
    public let removed: [Int]
}

/// The work of a restore.
public struct RestoreReport: Sendable, Equatable {
    /// The number of the backup that the files are of; later ones may have given the end of the log.
    public let backup: Int
    /// The last transaction of the restored store.
    public let last: BackupMoment
    /// The number of files.
    public let fileCount: Int
    /// Bytes of the files.
    public let byteCount: UInt64
}
