/// The file system as the engine sees it.
///
/// This is an abstract class, because simulated, failing and counting disks need an interface that is not generic, and
/// one virtual call costs nothing beside a system call. `open` is the only access level at which another target of this
/// package may subclass. `init` is restricted to the package, so code outside of it cannot create a disk.
///
/// Paths are UTF-8, absolute or relative to the working directory. A disk keeps no state of its own between calls and
/// may be used from any thread.
// Safe because the class has no stored property, and each subclass is responsible for its own.
open class Disk: @unchecked Sendable {
    package init() {}

    /// Opens a file.
    ///
    /// Durability: with `.creating` the new entry is durable only after `synchronizeDirectory` on its parent.
    ///
    /// - Throws: `.notFound`, `.exists` (when creating), `.isDirectory`, `.notRegularFile`, `.permissionDenied`,
    ///   `.readOnlyFileSystem`, `.tooManyOpenFiles`, `.noSpace`, and errors of the path itself.
    open func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile { Self.subclassAnswers() }

    /// Returns the names in a directory, sorted by Unicode scalars, without `.` and `..`.
    open func names(in directory: String) throws(DiskError) -> [String] { Self.subclassAnswers() }

    /// Whether a file or directory exists at `path`.
    ///
    /// A symbolic link counts as its target.
    open func isPresent(_ path: String) throws(DiskError) -> Bool { Self.subclassAnswers() }

    /// Creates one directory, whose parent must exist.
    ///
    /// - Throws: `.exists` if the name is in use.
    open func createDirectory(_ path: String) throws(DiskError) { Self.subclassAnswers() }

    /// Lets only the owner of a directory list it and open its files, where the file system has owners.
    open func restrictToOwner(_ directory: String) {}

    /// Removes a file's entry; open handles can still read the file.
    open func remove(_ path: String) throws(DiskError) { Self.subclassAnswers() }

    /// Removes an empty directory.
    open func removeDirectory(_ path: String) throws(DiskError) { Self.subclassAnswers() }

    /// Renames a file or directory.
    ///
    /// An existing file with the new name is replaced in one step.
    open func rename(_ source: String, to target: String) throws(DiskError) { Self.subclassAnswers() }

    /// Copies a file, sharing its blocks if the file system can.
    ///
    /// Durability: none. Synchronize the new file and its directory. After an error, a part of the new file may exist.
    ///
    /// - Throws: `.exists` if `target` exists.
    open func copy(_ source: String, to target: String) throws(DiskError) {
        let reading = try open(source, for: .reading)
        defer { reading.close() }
        let writing = try open(target, for: .creating)
        defer { writing.close() }
        let buffer = BufferMemory.allocateBuffer(byteCount: 1 << 18)
        defer { BufferMemory.deallocate(buffer) }
        var offset: UInt64 = 0
        while true {
            let byteCount = try reading.read(into: buffer, at: offset)
            try writing.write(UnsafeRawBufferPointer(rebasing: buffer[..<byteCount]), at: offset)
            if byteCount < buffer.count { return }
            offset += UInt64(byteCount)
        }
    }

    /// Gives a file that does not change any more a second entry, or copies it where that is impossible: on another
    /// file system, on one without hard links, without the permission.
    ///
    /// Durability: as `copy`.
    ///
    /// - Throws: As `copy`.
    open func link(_ source: String, to target: String) throws(DiskError) { try copy(source, to: target) }

    /// Makes the created, renamed and removed entries of a directory durable.
    ///
    /// Does not synchronize the files' bytes.
    ///
    /// - Parameters:
    ///   - path: The directory.
    ///   - site: Names the place in the code, so that a test can leave out just this call.
    /// - Throws: The system's error; the state of the entries is then unknown, and a second call proves
    ///   nothing.
    open func synchronizeDirectory(_ path: String, site: SyncSite) throws(DiskError) { Self.subclassAnswers() }

    /// Returns the device and inode of a path.
    ///
    /// Two paths with the same identity are the same file.
    open func identity(of path: String) throws(DiskError) -> FileIdentity { Self.subclassAnswers() }

    /// Returns the number of bytes that an unprivileged process can still write on the file system of `directory`.
    open func freeByteCount(in directory: String) throws(DiskError) -> UInt64 { Self.subclassAnswers() }

    /// Returns the kind of the file system of `path`.
    open func fileSystem(of path: String) throws(DiskError) -> FileSystemKind { Self.subclassAnswers() }

    /// The open files of stores in this process; nil if the disk has no limit of them.
    package var openFiles: OpenFileCount? { nil }

    /// The open files, if those that cannot be closed leave too few of the limit; reported once.
    package func takeOpenFileExcess() -> OpenFileCount? { nil }

    /// Identifies the run of the system since its last start; nil if the disk cannot tell.
    ///
    /// Bytes that were written in this run, synchronized or not, are those that a read returns.
    open var systemStart: String? { nil }

    /// Returns the number of bytes of a file.
    ///
    /// - Throws: As `open`, for reading.
    package final func byteCount(of path: String) throws(DiskError) -> UInt64 {
        let file = try open(path, for: .reading)
        defer { file.close() }
        return try file.byteCount()
    }

    /// Opens a file to be updated, and creates it if it is missing; another process may create it meanwhile.
    ///
    /// Durability and errors: as `open`.
    package final func openOrCreate(_ path: String) throws(DiskError) -> DiskFile {
        do throws(DiskError) { return try open(path, for: .updating) } catch {
            guard error.code == .notFound else { throw error }
        }
        do throws(DiskError) { return try open(path, for: .creating) } catch {
            guard error.code == .exists else { throw error }
            return try open(path, for: .updating)
        }
    }

    /// Calls `synchronizeDirectory(_:site:)` without naming the call for tests.
    package final func synchronizeDirectory(_ path: String) throws(DiskError) {
        try synchronizeDirectory(path, site: .unnamed)
    }

    private static func subclassAnswers(_ call: StaticString = #function) -> Never {
        preconditionFailure("\(self) must override \(call)")
    }
}

/// How a file is opened.
public enum FileAccess: Sendable {
    /// Reads a file that must exist.
    case reading
    /// Reads and writes a file that must exist.
    case updating
    /// Reads and writes a file that must not exist yet.
    case creating
}
