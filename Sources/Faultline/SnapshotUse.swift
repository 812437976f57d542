package import FaultlineLog
internal import FaultlineStore
public import Foundation

/// Who keeps an older state of a store from going, since when, and what that costs.
public struct SnapshotUse: Sendable, Codable, Hashable {
    /// What the context was pinned for; `context` for one that was not.
    public let label: String
    /// Whether it was pinned, and stays; others are moved on once they are idle.
    public let isPinned: Bool
    /// When it was pinned, or found to have been used.
    public let since: Date
    /// Bytes of files that could be removed without it; what several keep counts for each of them.
    public let heldByteCount: Int
    /// Whether it outlived its limits, and keeps nothing any more.
    public let isExpired: Bool

    package init(_ pin: SnapshotPin) {
        label = pin.label
        isPinned = pin.isExplicit
        since = Date(timeIntervalSince1970: Double(pin.sinceWallNanoseconds) / 1e9)
        heldByteCount = Int(clamping: pin.pinnedByteCount)
        isExpired = pin.isExpired
    }
}

extension ModelContainer {
    /// The contexts of this process that are pinned, or that keep space from being freed; the oldest state first.
    public var pins: [SnapshotUse] { rowStore.log.pins().map(SnapshotUse.init) }
}
