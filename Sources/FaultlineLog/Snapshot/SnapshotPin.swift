/// Who keeps an older state of the store, since when, and what that costs.
package struct SnapshotPin: Sendable, Equatable {
    /// What the owner said it is for.
    package let label: String
    /// Whether it was asked for, and stays behind; the others are moved on once they are idle.
    package let isExplicit: Bool
    /// Nanoseconds since 1970 when the snapshot was pinned, or found to have been used.
    package let sinceWallNanoseconds: Int64
    /// The newest transaction that it sees.
    package let sequence: UInt64
    /// Bytes of files that could be removed if nobody kept this state; files that several keep count for each.
    package let pinnedByteCount: UInt64
    /// Whether it has outlived its limits, and was let go of.
    package let isExpired: Bool
}

/// How long a state of the store may be pinned, and at what cost.
package struct PinLimits: Sendable {
    /// Nanoseconds after which it expires, once it keeps files.
    package var nanoseconds: UInt64
    /// Bytes of files that it may keep from being removed.
    package var byteCount: UInt64

    package init(nanoseconds: UInt64, byteCount: UInt64) {
        self.nanoseconds = nanoseconds
        self.byteCount = byteCount
    }
}
