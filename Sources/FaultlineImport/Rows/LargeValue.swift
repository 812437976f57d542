#if Import
internal import Glibc

/// A value of an attribute that is too large to be held: read piece by piece, from the database or a file.
struct LargeValue {
    enum Place {
        /// A blob in a column, from an offset on.
        case column(table: String, column: String, offset: Int)
        case file(String)
    }

    /// Bytes of one piece: a multiple of eight, as `ValueHash` demands.
    static let pieceByteCount = 64 << 10

    let slot: Int
    let place: Place
    let byteCount: Int

    /// Reads the value from its beginning to its end.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - row: The number of its row.
    ///   - body: Gets a function that fills memory and returns the number of bytes; 0 at the end.
    /// - Returns: The result of `body`.
    /// - Throws: `ImportError` if it cannot be read; the error of `body`.
    func read<R>(
        _ database: SQLiteDatabase, row: Int64,
        _ body: ((UnsafeMutableRawBufferPointer) throws -> Int) throws -> R
    ) throws -> R {
        var done = 0
        switch place {
        case .column(let table, let column, let offset):
            let blob = try database.openBlob(table, column, row: row)
            return try body { target in
                let count = min(target.count, byteCount - done)
                guard count > 0 else { return 0 }
                try blob.read(into: UnsafeMutableRawBufferPointer(rebasing: target[..<count]), at: offset + done)
                done += count
                return count
            }
        case .file(let path):
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { throw Self.error(path, String(cString: strerror(errno))) }
            defer { close(descriptor) }
            return try body { target in
                let count = min(target.count, byteCount - done)
                var filled = 0
                while filled < count {
                    let read = pread(
                        descriptor, target.baseAddress.map { $0 + filled }, count - filled, off_t(done + filled))
                    if read < 0, errno == EINTR { continue }
                    guard read > 0 else {
                        throw Self.error(path, read < 0 ? String(cString: strerror(errno)) : "it has become shorter")
                    }
                    filled += read
                }
                done += count
                return count
            }
        }
    }

    private static func error(_ path: String, _ reason: String) -> ImportError {
        ImportError(.unreadable, "\(path) cannot be read: \(reason). Make it readable, and import again.", path: path)
    }

    /// The size of a regular file; nil if there is none of that name.
    ///
    /// - Throws: `unreadable` if the folder does not tell.
    static func byteCount(ofFile path: String) throws(ImportError) -> Int? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw error(path, String(cString: strerror(errno))) }
            return nil
        }
        return status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }
}
#endif
