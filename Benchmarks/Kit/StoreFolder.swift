import Glibc

/// A store's folder, seen from outside: its bytes on disk, copies, and reading it once.
package struct StoreFolder: Sendable {
    package let path: String

    package init(_ path: String) {
        self.path = path
    }

    package var exists: Bool { access(path, F_OK) == 0 }

    /// Bytes that the files take on disk, `st_blocks` times 512.
    ///
    /// A single file counts as a store too. Files that disappear during the count do not count.
    package var diskByteCount: Int {
        var status = stat()
        guard lstat(path, &status) == 0 else { return 0 }
        guard status.st_mode & S_IFMT == S_IFDIR else { return Int(status.st_blocks) * 512 }
        return Self.diskByteCount(AT_FDCWD, path)
    }

    private static func diskByteCount(_ parent: Int32, _ name: UnsafePointer<CChar>) -> Int {
        let descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return 0 }
        guard let directory = fdopendir(descriptor) else {
            close(descriptor)
            return 0
        }
        defer { closedir(directory) }
        var sum = 0
        var status = stat()
        forEachName(in: directory) { name in
            guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
            if status.st_mode & S_IFMT == S_IFDIR {
                sum += diskByteCount(descriptor, name)
            } else {
                sum += Int(status.st_blocks) * 512
            }
        }
        return sum
    }

    /// Copies the store to `other`, which must not exist, syncs the file system, and reads the copy once.
    package func copy(to other: StoreFolder) throws(BenchmarkError) {
        try other.make()
        for name in try names() {
            let from = StoreFolder(path + "/" + name)
            let to = StoreFolder(other.path + "/" + name)
            if from.isDirectory { try from.copy(to: to) } else { try from.copyFile(to: to.path) }
        }
        sync()
        try other.readOnce()
    }

    /// Reads every byte, so that the page cache holds as much as fits.
    package func readOnce() throws(BenchmarkError) {
        for name in try names() {
            let file = StoreFolder(path + "/" + name)
            if file.isDirectory { try file.readOnce() } else { try file.pump(to: -1) }
        }
    }

    /// Makes the folder and those above it.
    package func make() throws(BenchmarkError) {
        if mkdir(path, 0o755) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw .storage(path, "make the folder")
        }
        try StoreFolder(String(path[..<slash])).make()
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw .storage(path, "make the folder") }
    }

    /// Removes the folder with its content, if it exists.
    package func remove() throws(BenchmarkError) {
        guard exists else { return }
        guard isDirectory else {
            guard unlink(path) == 0 else { throw .storage(path, "remove the file") }
            return
        }
        for name in try names() { try StoreFolder(path + "/" + name).remove() }
        guard rmdir(path) == 0 else { throw .storage(path, "remove the folder") }
    }

    /// Renames the folder; nothing of that name may exist.
    package func move(to other: StoreFolder) throws(BenchmarkError) {
        guard rename(path, other.path) == 0 else { throw .storage(path, "rename to \(other.path)") }
    }

    /// The bytes of the files in the folder whose names begin so.
    package func byteCount(ofNamesWith prefix: String) throws(BenchmarkError) -> Int {
        var sum = 0
        for name in try names() where name.hasPrefix(prefix) {
            var status = stat()
            guard lstat("\(path)/\(name)", &status) == 0 else { throw .storage("\(path)/\(name)", "find the file") }
            sum += Int(status.st_size)
        }
        return sum
    }

    private var isDirectory: Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private func names() throws(BenchmarkError) -> [String] {
        guard let directory = opendir(path) else { throw .storage(path, "list the folder") }
        defer { closedir(directory) }
        var names: [String] = []
        Self.forEachName(in: directory) { names.append(String(cString: $0)) }
        return names.sorted()
    }

    /// Calls `body` with every name but `.` and `..`.
    private static func forEachName(in directory: OpaquePointer, _ body: (UnsafePointer<CChar>) -> Void) {
        while let entry = readdir(directory) {
            withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    if strcmp(name, ".") != 0 && strcmp(name, "..") != 0 { body(name) }
                }
            }
        }
    }

    private func copyFile(to other: String) throws(BenchmarkError) {
        let target = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard target >= 0 else { throw .storage(other, "make the file") }
        defer { close(target) }
        try pump(to: target)
    }

    /// Reads the file in pieces and writes them to `target`, unless that is negative.
    private func pump(to target: Int32) throws(BenchmarkError) {
        let source = open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw .storage(path, "open the file") }
        defer { close(source) }
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { piece.deallocate() }
        while true {
            let count = read(source, piece.baseAddress, piece.count)
            guard count >= 0 else { throw .storage(path, "read the file") }
            if count == 0 { return }
            var place = 0
            while target >= 0, place < count {
                let written = write(target, piece.baseAddress?.advanced(by: place), count - place)
                guard written > 0 else { throw .storage(path, "copy the file") }
                place += written
            }
        }
    }
}
