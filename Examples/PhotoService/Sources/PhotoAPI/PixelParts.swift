package import Hummingbird

/// The body of an upload, in the parts in which it arrives; refused where it exceeds a size, or ends too early.
///
/// A part is asked for when the one before is stored, so the store sets the pace of the client.
package struct PixelParts: AsyncSequence, Sendable {
    package struct AsyncIterator: AsyncIteratorProtocol {
        private var parts: RequestBody.AsyncIterator
        private var receivedByteCount = 0
        private let upload: PixelParts

        fileprivate init(_ upload: PixelParts) {
            self.upload = upload
            parts = upload.body.makeAsyncIterator()
        }

        package mutating func next() async throws -> ByteBuffer? {
            guard let part = try await parts.next() else {
                // A client that went away has not sent all.
                guard receivedByteCount == upload.byteCount ?? receivedByteCount else { throw HTTPError(.badRequest) }
                return nil
            }
            receivedByteCount += part.readableBytes
            guard receivedByteCount <= upload.byteCountMax else { throw HTTPError(.contentTooLarge) }
            return part
        }
    }

    private let body: RequestBody
    /// The size that the client has announced; nil if it has not.
    private let byteCount: Int?
    private let byteCountMax: Int

    package init(_ body: RequestBody, byteCount: Int?, byteCountMax: Int) throws {
        guard byteCount ?? 0 <= byteCountMax else { throw HTTPError(.contentTooLarge) }
        self.body = body
        self.byteCount = byteCount
        self.byteCountMax = byteCountMax
    }

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// All bytes, for a library that stores them at once.
    package func collect() async throws -> ByteBuffer { try await body.collect(upTo: byteCountMax) }
}
