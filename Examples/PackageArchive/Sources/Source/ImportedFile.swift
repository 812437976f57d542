import Glibc

/// A file whose bytes become a large attribute: named now, read in pieces when they are needed.
package struct ImportedFile: Sendable, Equatable {
    package let path: String
    /// Bytes, when the file was chosen.
    package let byteCount: Int

    package init(path: String, byteCount: Int) {
        self.path = path
        self.byteCount = byteCount
    }

    /// Hands the bytes to `body` in order, in pieces of at most `pieceByteCount` bytes; memory is that of one piece.
    ///
    /// - Parameters:
    ///   - pieceByteCount: Bytes, at least 1.
    ///   - body: Takes a piece and the place of its first byte; the piece is valid only during the call.
    /// - Throws: `SourceError` when the file cannot be read or no longer has `byteCount` bytes; the errors of `body`.
    package func forEachPiece(
        ofAtMost pieceByteCount: Int = 256 << 10,
        _ body: (UnsafeRawBufferPointer, _ offset: Int) throws -> Void
    ) throws {
        let reader = try ImportedFileReader(self)
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: max(pieceByteCount, 1), alignment: 16)
        defer { piece.deallocate() }

        while reader.offset < byteCount {
            let offset = reader.offset
            let count = try reader.read(into: piece)
            try body(UnsafeRawBufferPointer(rebasing: piece[..<count]), offset)
        }
        guard try reader.read(into: piece) == 0 else { throw reader.changed }
    }
}

/// Reads one file from beginning to end, and detects that it is not the file that was chosen.
package final class ImportedFileReader {
    /// Bytes read so far.
    package private(set) var offset = 0
    private let file: ImportedFile
    private let descriptor: Int32

    /// Opens the file.
    package init(_ file: ImportedFile) throws(SourceError) {
        self.file = file
        descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw SourceError(.cannotOpen, path: file.path, errno: errno) }
    }

    deinit { close(descriptor) }

    /// Fills `piece` as far as the file goes and says how many bytes there were; 0 at the end.
    package func read(into piece: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        var count = 0
        while count < piece.count {
            let step = Glibc.read(descriptor, piece.baseAddress?.advanced(by: count), piece.count - count)
            if step < 0 && errno == EINTR { continue }
            guard step >= 0 else { throw SourceError(.cannotRead, path: file.path, errno: errno) }
            if step == 0 { break }
            count += step
        }
        offset += count
        let isWhole = offset == file.byteCount
        guard offset <= file.byteCount, count == piece.count || isWhole else { throw changed }
        return count
    }

    var changed: SourceError {
        SourceError(
            .changedWhileReading,
            path: file.path,
            message: "the file had \(file.byteCount) bytes when it was chosen and has another size now; run again"
        )
    }
}
