import Glibc

/// Runs one workload as the command line says: prepares its store, or measures and prints the JSON line.
package struct Runner: Sendable {
    package let workloads: [Workload]

    package init(_ workloads: [Workload]) {
        self.workloads = workloads
    }

    /// Does what the arguments say.
    ///
    /// - Returns: What belongs on standard output, without the last line break; nil for nothing.
    package func run(_ arguments: Arguments) throws -> String? {
        if arguments.isListing { return workloads.map(\.name).joined(separator: "\n") }
        guard let workload = workloads.first(where: { $0.name == arguments.workload }) else {
            let known = workloads.map(\.name).joined(separator: " ")
            throw BenchmarkError(.usage, "there is no workload \(arguments.workload); there are: \(known)")
        }
        let n = arguments.n ?? workload.defaultCount
        let folder = arguments.store
        let own = StoreFolder("\(folder)/run-\(workload.name)-\(n)")

        if arguments.isPreparing {
            try prepare(workload, n, folder, own)
            return nil
        }
        let store: StoreFolder
        switch workload.start {
        case .nothing:
            try own.remove()
            store = own
        case .reading(let base):
            store = Self.kept(base, n, folder)
            if !store.exists { try prepare(workload, n, folder, own) }
            try store.readOnce()
        case .changing:
            store = own
            if !store.exists { try prepare(workload, n, folder, own) }
        }
        let line = try workload.run(WorkloadRun(n: n, budgetMiB: arguments.budgetMiB, store: store))
        try own.remove()
        return line.json
    }

    /// Makes the kept store, if it is not there, and the copy that this workload changes.
    private func prepare(_ workload: Workload, _ n: Int, _ folder: String, _ own: StoreFolder) throws {
        try StoreFolder(folder).make()
        switch workload.start {
        case .nothing: break
        case .reading(let base):
            try Self.make(base, n, folder)
        case .changing(let base):
            try Self.make(base, n, folder)
            try own.remove()
            let unfinished = StoreFolder(own.path + ".part")
            try unfinished.remove()
            try Self.kept(base, n, folder).copy(to: unfinished)
            try unfinished.move(to: own)
        }
    }

    /// Makes a kept store under another name first: one that was interrupted is never taken for whole.
    private static func make(_ base: StartingStore, _ n: Int, _ folder: String) throws {
        let store = kept(base, n, folder)
        guard !store.exists else { return }
        let unfinished = StoreFolder(store.path + ".part")
        try unfinished.remove()
        try base.make(unfinished, n)
        try unfinished.move(to: store)
        sync()
    }

    private static func kept(_ base: StartingStore, _ n: Int, _ folder: String) -> StoreFolder {
        StoreFolder("\(folder)/\(base.name)-\(n)")
    }
}
