/// The holder of an older state of the store, since when, and at what cost.
package struct SnapshotPin: Sendable, Equatable {
    /// The purpose, by the owner.
    package let label: String
    /// Whether it was pinned on request, and stays; the others are taken once they are idle.
    package let isExplicit: Bool
    /// Nanoseconds since 1970 when the snapshot was pinned, or last found to have been used.
    package let sinceWallNanoseconds: Int64
    /// The newest transaction that it sees.
    package let sequence: UInt64
    /// Bytes of files that could be removed without this state; files of several states count for each.
    package let pinnedByteCount: UInt64
    /// Whether it exceeded its limits, and was released.
    package let isExpired: Bool
}

/// The limits of time and space for a pinned state of the store.
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
