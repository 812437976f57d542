import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

/// One store that lives through a list of operations under one configuration, beside what it should hold.
final class ModelLife {
    static let path = "/d/store"
    private static let now: Int64 = 1_000

    let operations: [ModelOperation]
    let configuration: ModelConfiguration
    let canary: ModelCanary?
    /// Of the present opening.
    var options: LogOptions
    /// The disk, and what fails for it.
    var disk: SimulatedDisk
    var failing: FailingDisk
    var log: Log

    /// What is committed.
    var state = ModelState()
    /// What the transaction under way would make of it.
    var draft = ModelState()
    /// What the transactions left since the last that is certain to be durable, and it.
    var past: [(sequence: UInt64, state: ModelState)]
    var snapshots: [(snapshot: Snapshot, state: ModelState)] = []
    var heldBlobs: [(blob: HeldBlob, bytes: [UInt8])] = []
    /// Transactions to be asked for, and the segments of which one has it.
    var remembered: [(transaction: TransactionID, segments: Set<UInt64>)] = []
    /// Rows before their last change, where a canary hands them out.
    var staleRows: [UInt16: [RecordID: [UInt8]]] = [:]

    private var next = 0
    private(set) var present: ModelOperation?
    private(set) var history: ModelHistory
    private(set) var kinds: Set<ModelKind> = []
    private var sites: Set<SyncSite> = []

    /// - Throws: `LogError` where the store cannot be made.
    init(_ operations: [ModelOperation], _ configuration: ModelConfiguration, seed: UInt64, canary: ModelCanary?)
        throws
    {
        self.operations = operations
        self.configuration = configuration
        self.canary = canary
        var options = configuration.options
        options.seed = seed
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

    /// Every place that made something durable.
    var reachedSites: Set<SyncSite> { sites.union(disk.synchronizationCounts.keys) }

    // MARK: Living

    /// Takes all operations, then compares everything once more.
    func run() throws {
        while next < operations.count {
            let operation = operations[next]
            switch operation.kind.place {
            case .boundary, .transaction: try runTransaction()
            case .anywhere:
                begin(operation)
                try read(operation)
            case .outside:
                begin(operation)
                try maintain(operation)
            }
        }
        if configuration.name == ModelConfiguration.all.last?.name, canary == .seesOtherwise, next > 9 { note(1) }
        snapshots.removeAll()
        try compare(log.snapshot(), state, "at the end")
        try verify("at the end")
        try log.close()
    }

    private func begin(_ operation: ModelOperation) {
        next += 1
        present = operation
        history.begin(operation)
    }

    /// Notes that the present operation found something to do.
    func did() { if let present { kinds.insert(present.kind) } }

    func note(_ value: Int) { history.note(value) }
    func note(_ value: UInt64) { history.note(value) }
    func note(_ bytes: some Sequence<UInt8>) { history.note(bytes) }

    /// Does what configurations may see differently.
    func unseen(_ body: () throws -> Void) rethrows {
        let seen = history
        defer { history = seen }
        try body()
    }

    // MARK: Transactions

    private struct GivenUp: Error {}

    /// Runs the operations of a transaction: up to its end, or the first that needs it ended.
    private func runTransaction() throws {
        let isExplicit = operations[next].kind == .begin
        if operations[next].kind.place == .boundary {
            begin(operations[next])
            // An end without a beginning.
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
            // Nothing of it is left.
        } catch let error as LogError where error.code == .abandoned {
            // Nor here.
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

    /// Runs one transaction; what `body` makes of the draft becomes the state.
    ///
    /// - Throws: What `body` throws, and what the log says: then the state stays.
    @discardableResult
    func commit(_ body: (inout Transaction) throws -> Void) throws -> CommitReceipt {
        draft = state
        let author = (present?.seed ?? 0) % 3 == 0 ? "somebody" : nil
        let receipt = try log.write(author: author, body).receipt
        let isTableGone = draft.tables.count < state.tables.count || draft.nextTable != state.nextTable
        state = draft
        noteCommitted(at: receipt.sequence)
        if isTableGone { try dropIndexesOfNoTable() }
        return receipt
    }

    func noteCommitted(at sequence: UInt64) {
        if let last = past.last, last.sequence >= sequence {
            // A transaction that wrote nothing has the number of the one before.
            past[past.count - 1].state = state
        } else {
            past.append((sequence, state))
        }
    }

    /// Drops what a dropped table leaves: its entries are its owner's business, after each opening anew.
    func dropIndexesOfNoTable() throws {
        for index in log.indexIDs where state.tables[ModelTableKind.table(of: index)] == nil {
            try log.dropIndex(index)
        }
    }

    // MARK: Disks

    /// Notes that everything committed is durable.
    func settle() {
        past = [(log.snapshot().sequence, state)]
    }

    /// Goes on with another disk.
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
