#if Import
internal import Foundation
internal import Glibc

/// The files of a store in its folder: the database, its write-ahead log, and the folder of large values.
struct SourceFiles: Sendable {
    /// The first bytes of every SQLite database.
    private static let magic = Array("SQLite format 3\u{0}".utf8)
    /// Formats that this importer knows; later ones are newer.
    private static let formatMax: UInt8 = 2

    let path: String

    /// The log and the folder of large values are beside the file itself, not beside a symbolic link to it.
    init(_ url: URL) {
        let given = url.path(percentEncoded: false)
        let resolved = realpath(given, nil)
        defer { free(resolved) }
        path = resolved.map { String(cString: $0) } ?? given
    }

    var logPath: String { path + "-wal" }

    /// The folder of large values: `.NAME_SUPPORT/_EXTERNAL_DATA` beside the database.
    var externalFolder: String {
        let url = URL(filePath: path)
        let name = url.deletingPathExtension().lastPathComponent
        return url.deletingLastPathComponent()
            .appending(path: ".\(name)_SUPPORT/_EXTERNAL_DATA", directoryHint: .isDirectory)
            .path(percentEncoded: false)
    }

    /// Checks that the file begins like a whole SQLite database.
    ///
    /// - Throws: `ImportError`: `notAStore`, `newer`, `damaged` for one that has lost its end, `unreadable`.
    func check() throws(ImportError) {
        let bytes = try readHead()
        guard bytes.count >= Self.magic.count, bytes.prefix(Self.magic.count).elementsEqual(Self.magic) else {
            throw ImportError(
                .notAStore,
                "\(path) is not an SQLite database: it is another kind of file, or encrypted. Decrypt it first.",
                path: path)
        }
        guard bytes.count >= 100 else { throw truncated(at: bytes.count) }
        guard bytes[18] <= Self.formatMax, bytes[19] <= Self.formatMax else {
            throw ImportError(
                .newer,
                "\(path) has SQLite's format \(max(bytes[18], bytes[19])), and the newest known one is \(Self.formatMax). Import it with a newer release.",
                path: path)
        }
        // A database with a log may be shorter: its last pages are in the log.
        let pageByteCount = Int(bytes[16]) << 8 | Int(bytes[17])
        let pageCount = bytes[28..<32].reduce(0) { $0 << 8 | Int($1) }
        let isCounted = bytes[24..<28].elementsEqual(bytes[92..<96])
        let wanted = pageCount * (pageByteCount == 1 ? 65_536 : pageByteCount)
        let byteCount = Self.status(of: path)?.byteCount ?? 0
        if isCounted, byteCount < wanted, (Self.status(of: logPath)?.byteCount ?? 0) == 0 {
            throw truncated(at: byteCount, of: wanted)
        }
    }

    private func readHead() throws(ImportError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ImportError(.unreadable, "\(path) cannot be opened: \(String(cString: strerror(errno))).", path: path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ImportError(
                .unreadable, "\(path) is not a file. Name the store's .sqlite or .store file.", path: path)
        }
        return [UInt8](unsafeUninitializedCapacity: 100) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, 100, 0))
        }
    }

    private func truncated(at byteCount: Int, of wanted: Int? = nil) -> ImportError {
        ImportError(
            .damaged,
            "\(path) has lost its end: it has \(byteCount) bytes\(wanted.map { " and should have \($0)" } ?? ""). Copy it again, together with its -wal.",
            path: path)
    }

    /// The state of the files; equal ones have not been written in between.
    ///
    /// - Throws: `ImportError` if the database is gone.
    func identity() throws(ImportError) -> String {
        guard let database = Self.status(of: path) else {
            throw ImportError(.unreadable, "\(path) cannot be opened: there is no such file.", path: path)
        }
        let log = Self.status(of: logPath) ?? FileState(byteCount: 0, inode: 0, changed: 0)
        // An empty log is as good as none.
        return log.byteCount == 0 ? database.text : "\(database.text) \(log.text)"
    }

    private struct FileState {
        let byteCount: Int
        let inode: UInt64
        let changed: Int

        var text: String { "\(byteCount) \(inode) \(changed)" }
    }

    private static func status(of path: String) -> FileState? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return FileState(
            byteCount: Int(status.st_size), inode: UInt64(status.st_ino),
            changed: Int(status.st_mtim.tv_sec) * 1_000_000_000 + Int(status.st_mtim.tv_nsec))
    }
}
#endif
