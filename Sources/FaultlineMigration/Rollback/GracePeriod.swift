package import FaultlineLog

/// The state that a migration has put out of force, for as long as the store can return to it.
public struct GracePeriod: Codable, Hashable, Sendable {
    /// About how many bytes of the disk it holds that the state in force does not need: what migrating, updates and
    /// deletes have left behind since, and would be given back.
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
