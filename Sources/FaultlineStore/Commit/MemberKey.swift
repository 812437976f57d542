package import FaultlineLog

/// The key of a relationship index: docs/FileFormat.md 13.5.
///
/// For members that store their owner: the owner's identifier, then the order key without the zero bytes at its end;
/// the entry's identifier is the member. For links: owner, order key, member; the entry's identifier is the link.
/// Identifiers and order keys have 8 bytes, big endian.
package enum MemberKey {
    private static let ownerByteCount = 8
    private static let byteCountMax = 16
    private static let linkByteCount = 24

    /// The order key of a member without an explicit one.
    @inline(__always)
    package static func defaultOrder(of member: RecordID) -> UInt64 { member << 16 }

    /// Calls `body` with the bytes of the key of a member that stores its owner.
    @inline(__always)
    package static func with<R, E: Error>(
        owner: RecordID, order: UInt64, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        let byteCount = byteCountMax - order.trailingZeroBitCount / 8
        return try withBytes(of: (owner.bigEndian, order.bigEndian)) { (bytes) throws(E) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[..<byteCount]))
        }
    }

    /// Calls `body` with the bytes of the key of a link.
    @inline(__always)
    package static func with<R, E: Error>(
        owner: RecordID, order: UInt64, member: RecordID, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try withBytes(of: (owner.bigEndian, order.bigEndian, member.bigEndian), body)
    }

    /// The member of an entry; nil if its key is not of this kind.
    package static func member(_ key: UnsafeRawBufferPointer, id: RecordID) -> RecordID? {
        switch key.count {
        case linkByteCount: RecordID(bigEndian: key.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        case ownerByteCount...byteCountMax: id
        default: nil
        }
    }

    /// The order key of a key; nil if it is not of this kind.
    package static func order(_ key: UnsafeRawBufferPointer) -> UInt64? {
        guard key.count == linkByteCount || (ownerByteCount...byteCountMax).contains(key.count) else { return nil }
        var order: UInt64 = 0
        withUnsafeMutableBytes(of: &order) {
            $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: key[ownerByteCount..<min(key.count, byteCountMax)]))
        }
        return UInt64(bigEndian: order)
    }

    /// Calls `body` with the common prefix of all keys of an owner.
    @inline(__always)
    package static func withPrefix<R>(
        owner: RecordID, _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        try withUnsafeBytes(of: owner.bigEndian, body)
    }

    @inline(__always)
    private static func withBytes<Words, R, E: Error>(
        of words: Words, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try withUnsafeBytes(of: words) { (bytes) throws(E) in try body(bytes) }
    }
}

extension Snapshot {
    /// Numbers of an owner's members in a relationship index, in their order.
    ///
    /// O(members).
    ///
    /// - Throws: `LogError` if the index cannot be read.
    package func members(of owner: RecordID, in index: IndexDefinition) throws -> [RecordID] {
        var numbers: [RecordID] = []
        try MemberKey.withPrefix(owner: owner) { prefix in
            try forEachEntry(in: index, prefix: prefix) { key, id in
                if let member = MemberKey.member(key, id: id) { numbers.append(member) }
                return true
            }
        }
        return numbers
    }
}
