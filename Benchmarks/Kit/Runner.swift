import Glibc

/// Runs one workload by the command line: prepares its store, or measures and prints the JSON line.
package struct Runner: Sendable {
    package let workloads: [Workload]
    /// The words of this program's command line before those that the runner knows.
    private let leadingWords: [String]

    package init(_ workloads: [Workload], leadingWords: [String] = []) {
        self.workloads = workloads
        self.leadingWords = leadingWords
    }

    /// Runs a command line.
    ///
    /// - Returns: The standard output, without the last line break; nil for none.
    package func run(_ arguments: Arguments) throws -> String? {
        if arguments.isListing { return workloads.map(\.name).joined(separator: "\n") }
        guard let workload = workloads.first(where: { $0.name == arguments.workload }) else {
            let known = workloads.map(\.name).joined(separator: " ")
            throw BenchmarkError(.usage, "there is no workload \(arguments.workload); there are: \(known)")
        }
        var n = arguments.n ?? workload.defaultCount
        if workload.isDefaultMost { n = min(n, workload.defaultCount) }
        let folder = arguments.store
        let own = StoreFolder("\(folder)/run-\(workload.name)-\(n)")

        if arguments.isWriting {
            guard case .killed(_, let writer) = workload.start else {
                throw BenchmarkError(.usage, "\(workload.name) has no writer that is killed")
            }
            try writer(WorkloadRun(n: n, budgetMiB: arguments.budgetMiB, store: Self.unfinished(own)))
            return nil
        }
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
        case .changing, .killed:
            store = own
            if !store.exists { try prepare(workload, n, folder, own) }
        }
        let line = try workload.run(WorkloadRun(n: n, budgetMiB: arguments.budgetMiB, store: store))
        try own.remove()
        return line.json
    }

    /// Makes the kept store, if it is missing, and the copy that this workload changes.
    private func prepare(_ workload: Workload, _ n: Int, _ folder: String, _ own: StoreFolder) throws {
        try StoreFolder(folder).make()
        switch workload.start {
        case .nothing: break
        case .reading(let base):
            try Self.make(base, n, folder)
        case .changing(let base):
            try Self.make(base, n, folder)
            try Self.copy(Self.kept(base, n, folder), to: own)
            try Self.unfinished(own).move(to: own)
        case .killed(let base, _):
            try Self.make(base, n, folder)
            try Self.copy(Self.kept(base, n, folder), to: own)
            try killWriter([
                "--workload", workload.name, "--store", folder, "--n", String(n), "--write",
            ])
            try Self.unfinished(own).readOnce()
            try Self.unfinished(own).move(to: own)
        }
    }

    /// Runs the writer in a separate process for 3.3 to 4 s, and kills it.
    private func killWriter(_ words: [String]) throws {
        let writer = try ChildProcess("/proc/self/exe", leadingWords + words, readsOutput: false)
        var random = SplitMix64(ProcessFigures.wallNanoseconds())
        usleep(3_300_000 + UInt32(random.draw(below: 700_000)))
        try writer.kill()
    }

    /// Copies a store to the unfinished form of another.
    private static func copy(_ store: StoreFolder, to other: StoreFolder) throws {
        try other.remove()
        try unfinished(other).remove()
        try store.copy(to: unfinished(other))
    }

    private static func unfinished(_ store: StoreFolder) -> StoreFolder { StoreFolder(store.path + ".part") }

    /// Makes a kept store under another name first: an interrupted one never counts as complete.
    private static func make(_ base: StartingStore, _ n: Int, _ folder: String) throws {
        let store = kept(base, n, folder)
        guard !store.exists else { return }
        let unfinished = unfinished(store)
        try unfinished.remove()
        try base.make(unfinished, n)
        try unfinished.move(to: store)
        sync()
    }

    private static func kept(_ base: StartingStore, _ n: Int, _ folder: String) -> StoreFolder {
        StoreFolder("\(folder)/\(base.name)-\(n)")
    }
}
