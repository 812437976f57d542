package import FaultlineLog

/// The answer to a request.
package struct PageAnswer: Sendable {
    /// The HTTP status.
    package let status: Int
    /// The headers, with names in lower case.
    package var headers: [(name: String, value: String)]
    package let body: Body

    /// The bytes of an answer.
    package enum Body: Sendable {
        case bytes([UInt8])
        /// A part of a large value, which is read while it is sent.
        case blob(BlobPart)
    }

    /// A part of a large value in a state of the store.
    package struct BlobPart: Sendable {
        package let snapshot: Snapshot
        package let identifier: UInt64
        package let range: Range<UInt64>

        /// Reads some of the bytes.
        ///
        /// - Throws: `LogError` if they do not verify, or the disk does not answer.
        package func bytes(_ range: Range<UInt64>) throws -> [UInt8] {
            try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
                try snapshot.readBlob(identifier, range: range, into: UnsafeMutableRawBufferPointer(buffer))
                count = buffer.count
            }
        }
    }

    /// Makes an answer with the headers that each one has: nothing is kept by caches, and a page runs no script and
    /// loads nothing from elsewhere.
    init(_ status: Int, _ type: String, _ body: Body, headers: [(name: String, value: String)] = []) {
        self.status = status
        self.body = body
        self.headers =
            [
                ("content-type", type),
                (
                    "content-security-policy",
                    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; sandbox allow-forms allow-same-origin allow-downloads"
                ),
                ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
                ("cross-origin-resource-policy", "same-origin"), ("cross-origin-opener-policy", "same-origin"),
                ("cache-control", "no-store"),
            ] + headers
    }

    /// A page.
    init(_ status: Int, _ page: Markup) {
        self.init(status, "text/html; charset=utf-8", .bytes(Array(page.text.utf8)))
    }

    /// The bytes of the body, without those of large values.
    package var text: String {
        if case .bytes(let bytes) = body { String(decoding: bytes, as: UTF8.self) } else { "" }
    }
}
