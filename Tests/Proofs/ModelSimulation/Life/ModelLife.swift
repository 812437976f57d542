import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

/// Runs a list of operations on a store with one configuration, and keeps a model of the expected contents.
final class ModelLife {
    static let path = "/d/store"
    private static let now: Int64 = 1_000

    let operations: [ModelOperation]
    let configuration: ModelConfiguration
    let canary: ModelCanary?
    /// The options of the current log.
    var options: LogOptions
    /// The disk, and the failing disk over it.
    var disk: SimulatedDisk
    var failing: FailingDisk
    var log: Log

    /// The committed state.
    var state = ModelState()
    /// The state that the open transaction would commit.
    var draft = ModelState()
    /// The states from the newest one that is certainly durable to the current one.
    var past: [(sequence: UInt64, state: ModelState)]
    var snapshots: [(snapshot: Snapshot, state: ModelState)] = []
    var heldBlobs: [(blob: HeldBlob, bytes: [UInt8])] = []
    /// Large values that were written beside transactions, and that a transaction may place.
    var uploads: [(upload: FinishedUpload, bytes: [UInt8])] = []
    /// Committed transactions that should be found, and the segments that may contain them.
    var remembered: [(transaction: TransactionID, segments: Set<UInt64>)] = []
    /// The rows before their last change, for a canary.
    var staleRows: [UInt16: [RecordID: [UInt8]]] = [:]

    private let watch = InvariantWatch()
    private var pace = InvariantPace()
    private var next = 0
    private(set) var present: ModelOperation?
    private(set) var history: ModelHistory
    private(set) var kinds: Set<ModelKind> = []
    private var sites: Set<SyncSite> = []

    /// - Throws: `LogError` if the store cannot be created.
    init(_ operations: [ModelOperation], _ configuration: ModelConfiguration, seed: UInt64, canary: ModelCanary?)
        throws
    {
        self.operations = operations
        self.configuration = configuration
        self.canary = canary
        var options = configuration.options
        options.seed = seed
        options.invariantWatch = watch.note
        self.options = options
        disk = SimulatedDisk(directories: ["/d"])
        failing = FailingDisk(over: disk)
        history = ModelHistory(operationCount: (operations.last?.number ?? 0) + 2)
        past = [(0, state)]
        log = try Self.open(failing, options)
        breakDisk()
    }

    static func open(_ disk: Disk, _ options: LogOptions, path: String = path) throws(LogError) -> Log {
        try Log.open(path, on: disk, clock: Clock { now }, options: options, deriver: ModelDeriver())
    }

    /// All call sites that synchronized a file.
    var reachedSites: Set<SyncSite> { sites.union(disk.synchronizationCounts.keys) }

    // MARK: Operations

    /// Runs all operations, and then compares everything once more.
    func run() throws {
        while next < operations.count {
            let operation = operations[next]
            switch operation.kind.place {
            case .boundary, .transaction:
                try runTransaction()
                try checkInvariants()
            case .anywhere:
                begin(operation)
                try read(operation)
            case .outside:
                begin(operation)
                try maintain(operation)
                try checkInvariants()
            }
        }
        if configuration.name == ModelConfiguration.all.last?.name, canary == .seesOtherwise, next > 9 { note(1) }
        snapshots.removeAll()
        try compare(log.snapshot(), state, "at the end")
        try verify("at the end")
        try log.close()
    }

    /// Checks the invariants of the log and of the held snapshots, and those that recovery and salvage broke.
    private func checkInvariants() throws {
        try watch.check()
        guard pace.isDue(objectCount: state.objectCount) else { return }
        try log.checkInvariants()
        for held in snapshots { try held.snapshot.checkInvariants() }
    }

    private func begin(_ operation: ModelOperation) {
        next += 1
        present = operation
        history.begin(operation)
    }

    /// Records that the current operation had an effect.
    func did() { if let present { kinds.insert(present.kind) } }

    func note(_ value: Int) { history.note(value) }
    func note(_ value: UInt64) { history.note(value) }
    func note(_ bytes: some Sequence<UInt8>) { history.note(bytes) }

    /// Runs `body` without recording its results, which may depend on the configuration.
    func unseen(_ body: () throws -> Void) rethrows {
        let seen = history
        defer { history = seen }
        try body()
    }

    // MARK: Transactions

    private struct GivenUp: Error {}

    /// Runs a transaction up to its end, or up to the first operation that requires its end.
    private func runTransaction() throws {
        let isExplicit = operations[next].kind == .begin
        if operations[next].kind.place == .boundary {
            begin(operations[next])
            // A commit or rollback without a transaction.
            guard isExplicit else { return }
            did()
        }
        do {
            try commit { transaction in
                if isExplicit { return try takeUntilEnd(&transaction) }
                begin(operations[next])
                try change(operations[next - 1], &transaction)
            }
        } catch is GivenUp {
            // The transaction left no changes.
        } catch let error as LogError where error.code == .abandoned {
            // The transaction left no changes.
        }
        try glance()
    }

    private func takeUntilEnd(_ transaction: inout Transaction) throws {
        while next < operations.count {
            let operation = operations[next]
            switch (operation.kind, operation.kind.place) {
            case (.commit, _):
                begin(operation)
                return did()
            case (.rollBack, _), (.abandon, _):
                begin(operation)
                did()
                if canary == .commitsWhatIsGivenUp {
                    draft = state
                    return
                }
                if operation.kind == .rollBack { throw GivenUp() }
                return transaction.abandon()
            case (_, .transaction):
                begin(operation)
                try change(operation, &transaction)
            case (_, .anywhere):
                begin(operation)
                try read(operation)
            default: return
            }
        }
    }

    /// Runs one transaction.
    ///
    /// If it is committed, the draft that `body` changed becomes the state.
    ///
    /// - Throws: The error of `body`, or errors of the log. The state does not change then.
    @discardableResult
    func commit(_ body: (inout Transaction) throws -> Void) throws -> CommitReceipt {
        draft = state
        let author = (present?.seed ?? 0) % 3 == 0 ? "editor" : nil
        let receipt = try log.write(author: author, body).receipt
        let isTableGone = draft.tables.count < state.tables.count || draft.nextTable != state.nextTable
        state = draft
        noteCommitted(at: receipt.sequence)
        if isTableGone { try dropIndexesOfNoTable() }
        return receipt
    }

    func noteCommitted(at sequence: UInt64) {
        if let last = past.last, last.sequence >= sequence {
            // A transaction that wrote nothing has the sequence number of the one before.
            past[past.count - 1].state = state
        } else {
            past.append((sequence, state))
        }
    }

    /// Drops the indexes of dropped tables, which is the caller's task, and is necessary again after each opening.
    func dropIndexesOfNoTable() throws {
        for index in log.indexIDs where state.tables[ModelTableKind.table(of: index)] == nil {
            try log.dropIndex(index)
        }
    }

    // MARK: Disks

    /// Records that all committed transactions are durable.
    func settle() {
        past = [(log.snapshot().sequence, state)]
    }

    /// Continues with another disk.
    func move(to disk: SimulatedDisk) {
        sites = reachedSites
        self.disk = disk
        failing = FailingDisk(over: disk)
        breakDisk()
    }

    private func breakDisk() {
        if canary == .leavesCommitsVolatile { disk.ignoredSynchronizations = { $0.site == "log.commit" } }
    }
}
