internal import FaultlineDisk

/// How a backup is made.
///
///     var options = BackupOptions()
///     options.isIncremental = true
///     options.keeps = 30
///     options.bytesPerSecond = 50_000_000
///     try await container.backup(to: directory, options: options)
public struct BackupOptions: Sendable {
    /// Whether the directory may hold earlier backups of the store: then the files that they have are not copied again.
    ///
    /// False by default.
    public var isIncremental = false
    /// The number of backups to keep, the new one included, 1 or more.
    ///
    /// Older ones are removed when the new one is durable. Nil, the default, keeps all.
    public var keeps: Int?
    /// The most bytes to copy in a second, so that the store's own reads and writes have the rest of the disk.
    ///
    /// 33,554,432 by default: beside a backup at that rate, one of 100 commits waited a tenth longer. A lower number than
    /// 1,048,576 counts as that. Nil is no bound.
    public var bytesPerSecond: Int? = 32 << 20
    /// Whether a backup is refused that the disk has too little room for.
    ///
    /// True by default.
    public var checksSpace = true
    /// Gets the bytes copied and all bytes to copy, every mebibyte and at the end of each file, on the thread that
    /// copies.
    public var progress: @Sendable (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    /// Waits; other than the system's in tests.
    package var sleep: @Sendable (_ nanoseconds: UInt64) -> Void = SystemThread.sleep

    /// A full backup, without a bound on its rate.
    public init() {}

    /// The options of a restore: no bound for the rate.
    public static var restoring: BackupOptions {
        var options = BackupOptions()
        options.bytesPerSecond = nil
        return options
    }
}

/// The state that a restore makes.
public enum RestorePoint: Sendable, Equatable {
    /// The newest state of the newest backup.
    case newest
    /// The state of the backup with that number.
    case backup(Int)
    /// The state after the transaction with that number.
    case transaction(UInt64)
    /// The state after the last transaction that was saved at or before that moment, in nanoseconds since 1970, by the
    /// clock of the machine that saved it.
    case time(nanoseconds: Int64)
}
