public import Foundation

extension Blob {
    /// The bytes of a value, in order, as pieces of at most 256 KiB.
    ///
    /// A piece is read when it is asked for, and none is kept: so the reader sets the pace, and a value of any size needs
    /// the memory of one piece.
    public struct Bytes: AsyncSequence, Sendable {
        /// Bytes of each piece but the last.
        public static let pieceByteCount = 256 << 10

        private let blob: Blob
        private let range: Range<Int>

        init(_ blob: Blob, _ range: Range<Int>) {
            self.blob = blob
            self.range = range
        }

        /// Reads the pieces, one after the other.
        public struct Iterator: AsyncIteratorProtocol {
            private let blob: Blob
            private var rest: Range<Int>
            private var isChecked = false

            init(_ blob: Blob, _ range: Range<Int>) {
                self.blob = blob
                rest = range
            }

            /// The next piece; nil at the end.
            ///
            /// - Throws: `CancellationError` if the task is cancelled; `StorageError` as `Blob.data(in:)`.
            /// - Complexity: O(n) for the n bytes of the piece; the thread waits for the disk, as in a fetch.
            public mutating func next() async throws -> Data? {
                try Task.checkCancellation()
                if !isChecked {
                    isChecked = true
                    guard rest.lowerBound >= 0, rest.upperBound <= blob.byteCount else {
                        throw StorageError(outOfRange: rest, ofByteCount: blob.byteCount)
                    }
                }
                guard !rest.isEmpty else { return nil }
                let end = Swift.min(rest.lowerBound + Bytes.pieceByteCount, rest.upperBound)
                let piece = try blob.data(in: rest.lowerBound..<end)
                rest = end..<rest.upperBound
                return piece
            }
        }

        /// Makes an iterator that begins with the first piece.
        public func makeAsyncIterator() -> Iterator { Iterator(blob, range) }
    }

    /// The bytes of the value, or of a range of it, as a sequence of pieces of at most 256 KiB.
    ///
    ///     for try await piece in blob.bytes() { try await response.write(piece) }
    ///
    /// - Parameter range: Bytes from the value's start, within `0..<byteCount`; nil for all. The first piece of another
    ///   range throws `StorageError` with the code `outOfRange`.
    /// - Returns: The sequence, which may be iterated several times.
    /// - Complexity: O(1); nothing is read.
    public func bytes(in range: Range<Int>? = nil) -> Bytes { Bytes(self, range ?? 0..<byteCount) }
}
