package import FaultlineLog

/// Key of a relationship index: owner, order key, member, 8 bytes each, big endian.
package enum MemberKey {
    package static let byteCount = 24

    /// The order key of a member that was given no other.
    @inline(__always)
    package static func defaultOrder(of member: RecordID) -> UInt64 { member << 16 }

    /// Calls `body` with the bytes of a key.
    @inline(__always)
    package static func with<R, E: Error>(
        owner: RecordID, order: UInt64, member: RecordID, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        let words = (owner.bigEndian, order.bigEndian, member.bigEndian)
        var result: Result<R, E>?
        withUnsafeBytes(of: words) { bytes in
            do throws(E) { result = .success(try body(bytes)) } catch { result = .failure(error) }
        }
        guard let result else { preconditionFailure("The closure of withUnsafeBytes always runs.") }
        return try result.get()
    }

    /// The member of a key; nil if it is no key of this kind.
    package static func member(_ key: UnsafeRawBufferPointer) -> RecordID? {
        guard key.count == byteCount else { return nil }
        return RecordID(bigEndian: key.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
    }

    /// The order key of a key; nil if it is no key of this kind.
    package static func order(_ key: UnsafeRawBufferPointer) -> UInt64? {
        guard key.count == byteCount else { return nil }
        return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
}
