import CFaultline
import Glibc

/// The operating system's files.
// Safe because the stored property is immutable.
package final class PosixDisk: Disk, @unchecked Sendable {
    private let table: OpenFiles

    override package convenience init() { self.init(.shared) }

    /// Makes a disk with a table of open files other than that of the process, for tests.
    package init(_ table: OpenFiles) {
        self.table = table
        super.init()
    }

    override package func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
        PosixDiskFile(path: path, number: try descriptor(path, for: access), in: table)
    }

    override package func takeOpenFileExcess() -> OpenFileCount? { table.takeExcess() }

    override package var openFiles: OpenFileCount? { table.count }

    override package func copy(_ source: String, to target: String) throws(DiskError) {
        let reading = try descriptor(source, for: .reading)
        defer { _ = fl_close(reading) }
        let writing = try descriptor(target, for: .creating)
        defer { _ = fl_close(writing) }
        if fl_clone(reading, writing) == 0 { return }
        var offset: Int64 = 0
        while true {
            let moved = fl_copy_range(reading, offset, writing, offset, 1 << 30)
            if moved == 0 { return }
            if moved > 0 {
                offset += moved
            } else if moved != -Int64(EINTR) {
                let errorNumber = Int32(truncatingIfNeeded: -moved)
                throw DiskError(
                    errorNumber: errorNumber, systemCall: .copyFileRange, path: target, offset: UInt64(offset))
            }
        }
    }

    override package func link(_ source: String, to target: String) throws(DiskError) {
        try Self.check(source, for: .open)
        try Self.check(target, for: .open)
        if Glibc.link(source, target) == 0 { return }
        // The copy names the cause if it fails too.
        try copy(source, to: target)
    }

    /// Opens an ordinary file and returns its descriptor.
    private func descriptor(_ path: String, for access: FileAccess) throws(DiskError) -> Int32 {
        try Self.check(path, for: .open)
        let mode =
            switch access {
            case .reading: FL_ACCESS_READING
            case .updating: FL_ACCESS_UPDATING
            case .creating: FL_ACCESS_CREATING
            }
        let descriptor = try number(of: path, mode)
        var status = fl_file_status()
        let result = fl_status(descriptor, &status)
        if result == 0, status.kind == FL_KIND_REGULAR.rawValue { return descriptor }
        _ = fl_close(descriptor)
        if result < 0 { throw DiskError(errorNumber: -result, systemCall: .fstat, path: path) }
        let isDirectory = status.kind == FL_KIND_DIRECTORY.rawValue
        throw DiskError(code: isDirectory ? .isDirectory : .notRegularFile, systemCall: .open, path: path)
    }

    /// Opens a file or directory and returns its number.
    private func number(of path: String, _ access: fl_access) throws(DiskError) -> Int32 {
        try table.opening { () throws(DiskError) in
            let number = Transfer.uninterrupted { fl_open(path, Int32(access.rawValue)) }
            if number < 0 { throw DiskError(errorNumber: -number, systemCall: .open, path: path) }
            return number
        }
    }

    override package func names(in directory: String) throws(DiskError) -> [String] {
        try Self.check(directory, for: .open)
        let stream = try table.opening { () throws(DiskError) in
            var stream: OpaquePointer?
            let opened = Transfer.uninterrupted { fl_directory_open(directory, &stream) }
            guard opened == 0, let stream else {
                throw DiskError(errorNumber: -opened, systemCall: .open, path: directory)
            }
            return stream
        }
        defer { fl_directory_close(stream) }
        var names: [String] = []
        while true {
            var name: UnsafePointer<CChar>?
            let result = fl_directory_next(stream, &name)
            if result < 0 { throw DiskError(errorNumber: -result, systemCall: .readdir, path: directory) }
            guard result > 0, let name else { break }
            let text = String(cString: name)
            if text != ".", text != ".." { names.append(text) }
        }
        names.sort()
        return names
    }

    override package func isPresent(_ path: String) throws(DiskError) -> Bool {
        try Self.check(path, for: .stat)
        var status = fl_file_status()
        let result = fl_path_status(path, &status)
        if result == 0 { return true }
        if result == -ENOENT || result == -ENOTDIR { return false }
        throw DiskError(errorNumber: -result, systemCall: .stat, path: path)
    }

    override package func createDirectory(_ path: String) throws(DiskError) {
        try Self.call(.mkdir, path) { fl_mkdir(path) }
    }

    override package func restrictToOwner(_ directory: String) { chmod(directory, 0o700) }

    override package func remove(_ path: String) throws(DiskError) {
        try Self.call(.unlink, path) { fl_unlink(path) }
    }

    override package func removeDirectory(_ path: String) throws(DiskError) {
        try Self.call(.rmdir, path) { fl_rmdir(path) }
    }

    override package func rename(_ source: String, to target: String) throws(DiskError) {
        try Self.check(target, for: .rename)
        try Self.call(.rename, source) { fl_rename(source, target) }
    }

    override package func synchronizeDirectory(_ path: String, site: SyncSite) throws(DiskError) {
        try Self.check(path, for: .open)
        let descriptor = try number(of: path, FL_ACCESS_DIRECTORY)
        defer { _ = fl_close(descriptor) }
        let result = Transfer.uninterrupted { fl_fsync(descriptor) }
        if result < 0 { throw DiskError(errorNumber: -result, systemCall: .fsync, path: path) }
    }

    override package func identity(of path: String) throws(DiskError) -> FileIdentity {
        var status = fl_file_status()
        try Self.call(.stat, path) { fl_path_status(path, &status) }
        return FileIdentity(device: status.device, inode: status.inode)
    }

    override package func freeByteCount(in directory: String) throws(DiskError) -> UInt64 {
        var byteCount: UInt64 = 0
        try Self.call(.statfs, directory) {
            Transfer.uninterrupted { fl_free_byte_count(directory, &byteCount) }
        }
        return byteCount
    }

    override package func fileSystem(of path: String) throws(DiskError) -> FileSystemKind {
        var magic: UInt64 = 0
        try Self.call(.statfs, path) {
            Transfer.uninterrupted { fl_file_system_magic(path, &magic) }
        }
        return FileSystemKind(magic: magic)
    }

    /// The kernel's identifier of its start.
    override package var systemStart: String? { Self.kernelStart }

    private static let kernelStart: String? = {
        let descriptor = fl_open("/proc/sys/kernel/random/boot_id", Int32(FL_ACCESS_READING.rawValue))
        guard descriptor >= 0 else { return nil }
        defer { _ = fl_close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = bytes.withUnsafeMutableBytes { fl_pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return nil }
        let text = bytes.prefix(Int(count)).prefix { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: ",") }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }()

    private static func call(_ systemCall: SystemCall, _ path: String, _ body: () -> Int32) throws(DiskError) {
        try check(path, for: systemCall)
        let result = body()
        if result < 0 { throw DiskError(errorNumber: -result, systemCall: systemCall, path: path) }
    }

    /// Refuses a path with a zero byte.
    ///
    /// C would truncate it there and open another file.
    private static func check(_ path: String, for systemCall: SystemCall) throws(DiskError) {
        if path.isEmpty || path.utf8.contains(0) {
            throw DiskError(code: .invalidPath, systemCall: systemCall, path: path)
        }
    }
}
