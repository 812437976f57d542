/// One workload: what it starts from and what it times.
package struct Workload: Sendable {
    package let name: String
    /// Objects where the command line names no number.
    package let defaultCount: Int
    /// Whether `defaultCount` is the most: a larger number on the command line counts as that.
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
        /// A copy whose writer is killed: it is called in a process of its own and goes on until then.
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
    /// The folder's name without the count; it must change whenever `make` makes something else.
    package let name: String
    /// Makes the store of `count` objects in a folder that does not exist yet.
    package let make: @Sendable (StoreFolder, _ count: Int) throws -> Void

    package init(_ name: String, make: @escaping @Sendable (StoreFolder, Int) throws -> Void) {
        self.name = name
        self.make = make
    }
}

/// What one run of a workload is given.
package struct WorkloadRun: Sendable {
    package let n: Int
    package let budgetMiB: Int?
    /// The store: the workload's own copy, the kept one that it only reads, or a folder that is not there yet.
    package let store: StoreFolder
}
