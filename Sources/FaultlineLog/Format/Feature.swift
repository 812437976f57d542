/// The optional features of a store: the bits of IDENTITY, `docs/FileFormat.md` section 2.
///
/// A bit is durable before the first byte that needs it, and normal operation never clears it.
package enum Feature {
    /// The bit of `incompatible` for tables with the rows of several classes.
    static let subclasses: UInt64 = 1 << 2
    /// The bit of `incompatible` for cold segments.
    package static let compaction: UInt64 = 1 << 4
    /// The bit of `incompatible` for a state that can be restored.
    static let keptState: UInt64 = 1 << 6

    /// The bit of `readCompatible` for change records, which a version without them would not write.
    static let history: UInt64 = 1 << 0
    /// The bit of `readCompatible` for listings of past states, which a version without them would let grow stale.
    static let pastStates: UInt64 = 1 << 1
    /// The bit of `readCompatible` for indexes that a version without them would not keep.
    static let secondaryIndexes: UInt64 = 1 << 3
    /// The bit of `readCompatible` for text indexes, which a version without them would not keep.
    static let textIndexes: UInt64 = 1 << 4
    /// The bit of `readCompatible` for blocks of postings, which a version without them cannot merge.
    static let postingBlocks: UInt64 = 1 << 5

    /// A version that does not know the bit refuses the store.
    static let incompatible = [
        0: "compressed blocks", 1: "encryption", 2: "subclass entities", 3: "files kept elsewhere",
        4: "compacted segments", 5: "a list of damaged objects",
        6: "a kept state",
    ]
    /// A version that does not know the bit does not write to the store.
    static let readCompatible = [
        0: "history", 1: "states of the past", 2: "a kept generation", 3: "secondary indexes", 4: "text indexes",
        5: "blocks of postings",
    ]

    /// The features of unknown bits, for a message.
    static func names(_ bits: UInt64, _ known: [Int: String]) -> String {
        (0..<64).filter { bits >> UInt64($0) & 1 != 0 }.map { known[$0] ?? "feature \($0)" }.joined(separator: ", ")
    }
}
