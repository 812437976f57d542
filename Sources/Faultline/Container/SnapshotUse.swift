package import FaultlineLog
internal import FaultlineStore
public import Foundation

/// A user of an older state of a store, which keeps its space from being freed: since when, and at which cost.
public struct SnapshotUse: Sendable, Codable, Hashable {
    /// The label of the pin; `context` for a context that is not pinned.
    public let label: String
    /// Whether the context is pinned, and stays; others are moved on once they are idle.
    public let isPinned: Bool
    /// When the context was pinned, or first seen in use.
    public let since: Date
    /// Bytes of files that could be removed without it; bytes that several contexts keep count for each of them.
    public let heldByteCount: Int
    /// Whether it exceeded its limits, and keeps nothing any more.
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
    ///
    /// - Complexity: O(c f) for c contexts and f files that are kept for them; reads nothing.
    public var pins: [SnapshotUse] {
        if let parts { return parts.containers.flatMap(\.pins) }
        return rowStore.log.pins().map(SnapshotUse.init)
    }
}
