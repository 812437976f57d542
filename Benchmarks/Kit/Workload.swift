/// One workload: its starting store and its timed work.
package struct Workload: Sendable {
    package let name: String
    /// The number of objects if the command line has none.
    package let defaultCount: Int
    /// Whether `defaultCount` is the maximum: a larger number on the command line counts as that.
    package let isDefaultMost: Bool
    package let start: Start
    /// Does the work and measures it.
    package let run: @Sendable (WorkloadRun) throws -> ResultLine

    /// The store that a workload starts from.
    package enum Start: Sendable {
        /// No store: the folder does not exist.
        case nothing
        /// A store that it only reads: prepared once, kept, and used as it is.
        case reading(StartingStore)
        /// A store that it changes: it gets a copy.
        case changing(StartingStore)
        /// A copy whose writer is killed: the writer runs in a separate process until then.
        case killed(StartingStore, writer: @Sendable (WorkloadRun) throws -> Void)
    }

    package init(
        _ name: String,
        defaultCount: Int,
        isDefaultMost: Bool = false,
        start: Start,
        run: @escaping @Sendable (WorkloadRun) throws -> ResultLine
    ) {
        self.name = name
        self.defaultCount = defaultCount
        self.isDefaultMost = isDefaultMost
        self.start = start
        self.run = run
    }
}

/// A store that several workloads start from.
package struct StartingStore: Sendable {
    /// The folder's name without the count; it must change whenever `make` changes its result.
    package let name: String
    /// Makes the store of `count` objects in a folder that does not exist yet.
    package let make: @Sendable (StoreFolder, _ count: Int) throws -> Void

    package init(_ name: String, make: @escaping @Sendable (StoreFolder, Int) throws -> Void) {
        self.name = name
        self.make = make
    }
}

/// The inputs of one run of a workload.
package struct WorkloadRun: Sendable {
    package let n: Int
    package let budgetMiB: Int?
    /// The store: the workload's own copy, the kept one that it only reads, or a folder that does not exist yet.
    package let store: StoreFolder
}
