package import Hummingbird

/// The pixels of a photo, which are sent in parts: a slow client keeps only one of them in memory.
package struct PixelBody: Sendable {
    /// The size of each part but the last, in bytes.
    package static let partByteCount = 256 << 10

    package let byteCount: Int
    /// Hands the parts over, one after the other.
    package let send: @Sendable (_ write: (ByteBuffer) async throws -> Void) async throws -> Void

    package init(
        byteCount: Int, send: @escaping @Sendable (_ write: (ByteBuffer) async throws -> Void) async throws -> Void
    ) {
        self.byteCount = byteCount
        self.send = send
    }
}
