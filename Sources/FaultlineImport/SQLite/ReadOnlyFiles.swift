#if Import
internal import CSQLite
internal import Glibc

/// A file system for SQLite whose files cannot be written, made or deleted: a store in WAL mode can be read without a
/// byte of its folder being changed.
///
/// All files of a database are opened for reading. A write-ahead log that is missing looks empty. Locks are granted
/// without asking the system, because a lock needs a file that can be written; so the caller must check afterwards that
/// the files have not changed. There is no shared memory: connections must be in exclusive locking mode, in which SQLite
/// keeps the index of the write-ahead log on its heap. Temporary files are the default file system's.
enum ReadOnlyFiles {
    static let name = "faultline-read-only"

    /// Registers the file system, once in a process.
    ///
    /// - Returns: Whether SQLite has taken it.
    static let isRegistered: Bool = {
        guard sqlite3_initialize() == SQLITE_OK, let standard = sqlite3_vfs_find(nil) else { return false }
        ReadOnlyFiles.standard = standard
        // Safe because SQLite keeps both for as long as the process runs.
        let files = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        files.initialize(to: standard.pointee)
        files.pointee.zName = UnsafePointer(strdup(name))
        files.pointee.pNext = nil
        files.pointee.szOsFile = max(standard.pointee.szOsFile, Int32(MemoryLayout<OpenFile>.stride))
        files.pointee.xOpen = { _, path, file, flags, outFlags in
            ReadOnlyFiles.open(path, file, flags, outFlags)
        }
        files.pointee.xDelete = { _, _, _ in SQLITE_READONLY }
        files.pointee.xAccess = { _, path, flags, result in ReadOnlyFiles.access(path, flags, result) }
        return sqlite3_vfs_register(files, 0) == SQLITE_OK
    }()

    // Safe because it is written once, before the file system is registered.
    nonisolated(unsafe) private static var standard: UnsafeMutablePointer<sqlite3_vfs>?

    /// SQLite's view of an open file, with its descriptor; −1 for a log that does not exist.
    private struct OpenFile {
        var base: sqlite3_file
        var descriptor: Int32
    }

    private static let databaseFiles = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL

    private static func open(
        _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let file else { return SQLITE_CANTOPEN }
        file.pointee.pMethods = nil
        guard let path, flags & databaseFiles != 0 else {
            guard let standard, let open = standard.pointee.xOpen else { return SQLITE_CANTOPEN }
            return open(standard, path, file, flags, outFlags)
        }
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 {
            guard errno == ENOENT, flags & SQLITE_OPEN_WAL != 0 else { return SQLITE_CANTOPEN }
        }
        // Safe because SQLite gives `szOsFile` bytes, which are enough for an `OpenFile`.
        UnsafeMutableRawPointer(file).assumingMemoryBound(to: OpenFile.self).pointee = OpenFile(
            base: sqlite3_file(pMethods: methods), descriptor: descriptor)
        outFlags?.pointee = SQLITE_OPEN_READONLY | (flags & databaseFiles)
        return SQLITE_OK
    }

    private static func access(
        _ path: UnsafePointer<CChar>?, _ flags: Int32, _ result: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard flags != SQLITE_ACCESS_READWRITE else {
            result?.pointee = 0
            return SQLITE_OK
        }
        guard let standard, let access = standard.pointee.xAccess else { return SQLITE_IOERR }
        return access(standard, path, flags, result)
    }

    private static func descriptor(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
        guard let file else { return -1 }
        return UnsafeMutableRawPointer(file).assumingMemoryBound(to: OpenFile.self).pointee.descriptor
    }

    // Safe because it is made once and never changed.
    nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        var made = sqlite3_io_methods()
        made.iVersion = 1
        made.xClose = { file in
            let descriptor = ReadOnlyFiles.descriptor(file)
            if descriptor >= 0 { Glibc.close(descriptor) }
            return SQLITE_OK
        }
        made.xRead = { file, target, count, offset in
            ReadOnlyFiles.read(ReadOnlyFiles.descriptor(file), target, Int(count), offset)
        }
        made.xWrite = { _, _, _, _ in SQLITE_READONLY }
        made.xTruncate = { _, _ in SQLITE_READONLY }
        made.xSync = { _, _ in SQLITE_OK }
        made.xFileSize = { file, size in
            var status = stat()
            let descriptor = ReadOnlyFiles.descriptor(file)
            guard descriptor < 0 || fstat(descriptor, &status) == 0 else { return SQLITE_IOERR }
            size?.pointee = descriptor < 0 ? 0 : sqlite3_int64(status.st_size)
            return SQLITE_OK
        }
        made.xLock = { _, _ in SQLITE_OK }
        made.xUnlock = { _, _ in SQLITE_OK }
        made.xCheckReservedLock = { _, result in
            result?.pointee = 0
            return SQLITE_OK
        }
        made.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
        made.xSectorSize = { _ in 4_096 }
        made.xDeviceCharacteristics = { _ in 0 }
        methods.initialize(to: made)
        return UnsafePointer(methods)
    }()

    /// Reads bytes; behind the file's end they are zero, as SQLite demands.
    private static func read(
        _ descriptor: Int32, _ target: UnsafeMutableRawPointer?, _ count: Int, _ offset: sqlite3_int64
    ) -> Int32 {
        guard let target else { return SQLITE_IOERR }
        var done = 0
        while descriptor >= 0, done < count {
            let read = pread(descriptor, target + done, count - done, off_t(offset) + off_t(done))
            if read < 0, errno == EINTR { continue }
            if read < 0 { return SQLITE_IOERR | (1 << 8) }
            if read == 0 { break }
            done += read
        }
        guard done < count else { return SQLITE_OK }
        memset(target + done, 0, count - done)
        // SQLITE_IOERR_SHORT_READ, a macro that Swift does not import.
        return SQLITE_IOERR | (2 << 8)
    }
}
#endif
