/// A state of the store that is kept for an owner, with its age and its cost.
package struct SnapshotPin: Sendable, Equatable {
    /// The owner's name for the purpose.
    package let label: String
    /// Whether it was pinned on request.
    ///
    /// Other snapshots are released when they are idle.
    package let isExplicit: Bool
    /// The time when the snapshot was pinned or last found to have been used, in nanoseconds since 1970.
    package let sinceWallNanoseconds: Int64
    /// The newest transaction in the snapshot.
    package let sequence: UInt64
    /// The number of bytes of files that could be removed without this state.
    ///
    /// Files of several states count for each.
    package let pinnedByteCount: UInt64
    /// Whether it exceeded its limits and was released.
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
