/// One open file.
///
/// Reads and writes have an explicit offset, so any number of threads may use a file concurrently. The bytes of
/// overlapping writes are undefined. `close` must not run concurrently with another call on the same file.
// Safe because the only stored property is immutable, and each subclass is responsible for its own.
open class DiskFile: @unchecked Sendable {
    /// The path that the file was opened with.
    ///
    /// A rename does not change it.
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// Reads into `buffer` from `offset`, in bytes from the start of the file.
    ///
    /// - Returns: The number of bytes read. It is less than requested only at the end of the file.
    open func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
        Self.subclassAnswers()
    }

    /// Writes all bytes at `offset`, and extends the file if necessary.
    ///
    /// Durability: none before `synchronize`.
    ///
    /// - Throws: `.noSpace`, `.quotaExceeded`, `.fileTooLarge`, `.ioFailure`, `.notWritable`. Any part of the bytes may
    ///   then be in the file.
    open func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) { Self.subclassAnswers() }

    /// Reserves disk space for the bytes from `offset` to `end`, so that writing them cannot fail for lack of
    /// space.
    ///
    /// The file's length and bytes stay as they are. A file system that cannot reserve space does nothing; one
    /// that allocates at each write (btrfs, ZFS) promises less.
    ///
    /// - Throws: `.noSpace`, `.quotaExceeded`, `.fileTooLarge`, `.notWritable`, `.ioFailure`; some of the space
    ///   may then be reserved.
    open func reserve(from offset: UInt64, through end: UInt64) throws(DiskError) { Self.subclassAnswers() }

    /// Frees the reserved space behind the file's end.
    ///
    /// Other threads must not write to the file during the call.
    open func releaseReserve() throws(DiskError) { Self.subclassAnswers() }

    /// Truncates the file to `byteCount` bytes, at most its length, and frees the space behind, reserved or
    /// not.
    ///
    /// Other threads must not write to the file during the call. Durability: none before `synchronize`.
    ///
    /// - Throws: `.notWritable`, `.ioFailure`; then the file may be as long as before.
    open func cut(to byteCount: UInt64) throws(DiskError) { Self.subclassAnswers() }

    /// Makes the file's bytes and length durable, not its entry in the directory (`fdatasync`).
    ///
    /// - Parameter site: Names the place in the code, so that a test can leave out just this call.
    /// - Throws: The system's error; the state of every byte written since the last success is then unknown. A
    ///   second call proves nothing: the system may have marked the lost pages clean.
    open func synchronize(site: SyncSite) throws(DiskError) { Self.subclassAnswers() }

    /// The file's length in bytes.
    open func byteCount() throws(DiskError) -> UInt64 { Self.subclassAnswers() }

    /// Locks one byte until `unlock` or `close`.
    ///
    /// The byte need not exist. Locking it again changes the kind of the lock.
    ///
    /// An exclusive lock needs a file opened for writing.
    ///
    /// - Returns: False if another handle, of this process or another, holds the byte.
    open func lock(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool { Self.subclassAnswers() }

    /// Whether a lock requested now would conflict with the lock of another handle.
    ///
    /// The file is not locked.
    ///
    /// The result may be outdated when the call returns.
    open func isLocked(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool { Self.subclassAnswers() }

    /// Releases this handle's lock on a byte, if there is one.
    open func unlock(byte: UInt64) throws(DiskError) { Self.subclassAnswers() }

    /// Drops the system's clean cached pages of this file, so that the next read reaches the device.
    open func forgetCachedPages() throws(DiskError) { Self.subclassAnswers() }

    /// Allows the process to close the file while no call uses it, and to open it again for reading by its path.
    ///
    /// All of the file must be durable, nothing more may be written to it, and only the owner of the group may remove
    /// it, when the last handle is gone. A disk without a limit of open files does nothing.
    package func mayRest(with group: RestingFiles) {}

    /// Closes the file and releases its locks.
    ///
    /// The call is idempotent, and releasing the last reference to the file also closes it. Nothing becomes durable.
    open func close() { Self.subclassAnswers() }

    /// Calls `synchronize(site:)` without naming the call for tests.
    package final func synchronize() throws(DiskError) {
        try synchronize(site: .unnamed)
    }

    private static func subclassAnswers(_ call: StaticString = #function) -> Never {
        preconditionFailure("\(self) must override \(call)")
    }
}
