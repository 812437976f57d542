public import CoreMetrics
public import Logging

/// The targets of a store's events and metrics; by default none, at no cost.
///
/// The first container of a store in a process decides where the engine reports. `docs/Operations.md` lists events and
/// metrics.
///
/// All values are equal: reporting changes nothing in how a store is kept.
public struct StoreReporting: Hashable, Sendable {
    /// Gets an entry for each event of the store: opening, recovery, checkpoints, compaction, rot, a full disk.
    ///
    /// Called on a thread of its own; it may use the store.
    public var logger: Logger?
    /// Which metrics are emitted; nil for none.
    public var metrics: Metrics?

    /// The metrics to emit, their target, and how often they are read.
    public struct Metrics: Sendable {
        /// The target; nil stands for `MetricsSystem.factory` when the container is made.
        public var factory: (any MetricsFactory)?
        /// Dimensions of every metric in addition to `store`, which is the configuration's name.
        public var dimensions: [(String, String)] = []
        /// How often counters and gauges are read, in addition to each checkpoint: by default every ten seconds.
        ///
        /// At least 100 ms: smaller values count as that.
        public var interval: Duration = .seconds(10)

        /// Metrics for a factory.
        public init(factory: (any MetricsFactory)? = nil) { self.factory = factory }
    }

    /// Reports nothing.
    public init() {}

    /// Always true.
    public static func == (left: StoreReporting, right: StoreReporting) -> Bool { true }
    /// Hashes nothing, because all values are equal.
    public func hash(into hasher: inout Hasher) {}
}
