package import FaultlineLog

/// The state before a migration, for as long as the store can return to it.
public struct GracePeriod: Codable, Hashable, Sendable {
    /// About how many bytes of the disk it keeps that the current state does not need: old data that the migration, and
    /// later updates and deletes, would have freed.
    public internal(set) var bytes: Int
    /// When it ends, in seconds since 1970 by the machine's clock.
    public internal(set) var until: Int

    package init(bytes: UInt64, untilNanoseconds: Int64) {
        self.bytes = Int(clamping: bytes)
        until = Int(untilNanoseconds / 1_000_000_000)
    }

    package init(_ kept: KeptStateFigures) {
        self.init(bytes: kept.heldByteCount, untilNanoseconds: kept.untilNanoseconds)
    }
}
