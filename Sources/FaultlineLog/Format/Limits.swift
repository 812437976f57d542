/// Every maximum of the format.
package enum Limits {
    /// Bytes of a frame's records.
    package static let frameBodyByteCountMax = 64 << 20
    /// Records of one frame.
    package static let frameRecordCountMax = 65_535
    /// Bytes of a record with its header and padding.
    package static let recordByteCountMax = frameBodyByteCountMax - 1_280
    /// Identifiers have 48 bits in records, but their pages are numbered in 32.
    package static let recordIDMax = UInt64(UInt32.max) * UInt64(TablePage.entryCount)
    /// Bytes of an author's name.
    package static let authorByteCountMax = 1_024
    /// Raw bytes of a blob's chunk.
    package static let chunkByteCount = 65_536
    /// Chunks of one blob: its writer keeps 8 bytes for each.
    package static let chunkCountMax = 1 << 23
    /// Bytes of one blob.
    package static let blobByteCountMax = UInt64(chunkCountMax) * UInt64(chunkByteCount)
    /// Bytes of a file that locations can name: offsets are 32 bits in units of 8.
    package static let locatableByteCountMax = 32 << 30
    /// Bytes after which a segment is followed by the next at the latest, with room for one more frame.
    package static let segmentByteCountMax = locatableByteCountMax - 2 * frameBodyByteCountMax
    /// Records of one transaction: they are counted in 32 bits.
    package static let transactionRecordCountMax = Int(UInt32.max) - frameRecordCountMax
    /// The low 32 bits of a file number, which locations name, are unique among the files that the manifest lists; the
    /// largest number is never assigned.
    package static let fileNumberMax = UInt64.max - 1
    /// The maximum of any offset, sequence number or ordinal in a manifest: a sum of two does not overflow.
    package static let countMax: UInt64 = 1 << 62
}

/// The version of the format that this code writes.
package enum FormatVersion {
    package static let major: UInt16 = 1
    package static let minor: UInt16 = 0
    /// Incompatible features that this code understands.
    package static let knownIncompatible: UInt64 = Feature.subclasses | Feature.compaction | Feature.keptState
    /// Read-compatible features that this code understands.
    package static let knownReadCompatible: UInt64 =
        Feature.history | Feature.pastStates | Feature.secondaryIndexes | Feature.textIndexes | Feature.postingBlocks
}
