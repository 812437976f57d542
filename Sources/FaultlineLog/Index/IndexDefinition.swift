/// The log's description of one index.
///
/// An index is a set of entries, each a key and a record identifier. Keys compare as bytes. The whole order of entries
/// is: key ascending, identifier ascending, sequence number descending.
package struct IndexDefinition: Sendable, Hashable {
    /// The number by which manifests and run footers name it.
    package let id: IndexID
    /// At most one identifier has a live entry for a key.
    package let isUnique: Bool
    /// The part of a key that hashes and Bloom filters use.
    package let searchPrefix: SearchPrefix
    /// Whether older releases do not know the index: a feature bit of the store says so.
    package let isSecondary: Bool
    /// Whether it is a text index: a record has any number of entries.
    package let isText: Bool

    /// The largest key, in bytes: two entries with such keys still fit in one block, so that a tree of blocks always
    /// narrows.
    package static let keyByteCountMax = 32_000

    /// Refuses a key that the format cannot hold.
    ///
    /// - Throws: `.tooLarge` with the index, the size, the limit and the remedy.
    package func checkSize(of key: UnsafeRawBufferPointer) throws(LogError) {
        guard key.count > Self.keyByteCountMax else { return }
        throw .tooLarge(
            "A key of index \(id.rawValue) has \(key.count) bytes, and may have \(Self.keyByteCountMax). "
                + "Shorten the value, or take the attribute out of the index: index a digest or a prefix of it instead."
        )
    }

    package init(
        id: IndexID, isUnique: Bool, searchPrefix: SearchPrefix, isSecondary: Bool = false, isText: Bool = false
    ) {
        self.id = id
        self.isUnique = isUnique
        self.searchPrefix = searchPrefix
        self.isSecondary = isSecondary
        self.isText = isText
    }
}

/// The part of a key by which entries are looked up: the whole key of a unique index, the owner of a relationship
/// index.
package enum SearchPrefix: Sendable, Hashable {
    case wholeKey
    /// The first bytes of the key, all of it where it is shorter.
    case bytes(Int)

    /// The most bytes the prefix may have.
    package var byteCountMax: Int {
        switch self {
        case .wholeKey: Int.max
        case .bytes(let byteCount): byteCount
        }
    }
}

/// The answer of one entry to a look-up of its key.
package struct IndexFinding: Sendable, Equatable {
    package let id: RecordID
    package let sequence: UInt64
    /// Whether the entry means that the identifier no longer has the key.
    package let isDelete: Bool

    package init(id: RecordID, sequence: UInt64, isDelete: Bool) {
        self.id = id
        self.sequence = sequence
        self.isDelete = isDelete
    }
}
