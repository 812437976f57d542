import Dispatch
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

// Operations on the whole store, outside of transactions.

extension ModelLife {
    /// Runs an operation that requires that no transaction is open.
    func maintain(_ operation: ModelOperation) throws {
        var random = Seed(operation.seed)
        did()
        switch operation.kind {
        case .commitNothing:
            let before = log.snapshot().sequence
            let receipt = try log.write(author: nil) { _ in }.receipt
            guard receipt.sequence <= max(before, log.snapshot().sequence) else {
                throw ModelViolation("a transaction that wrote nothing got number \(receipt.sequence)")
            }
        case .commitByTwo: try commitByTwo(&random)
        case .checkpoint: try checkpoint()
        case .compact: try compact()
        case .churnRows: try churnRows(&random)
        case .churnBlobs:
            for _ in 0..<3 {
                let bytes = random.bytes(random.pick([900, 6_000, 70_000]))
                try commit { try putBlob(bytes, &$0) }
                try commit { if let last = draft.blobs.ids.last { try deleteBlob(last, &$0) } }
            }
            try compact()
        case .mergeRuns: try mergeRuns(&random)
        case .verify: try verify("while it is open")
        case .usage: try checkUsage()
        case .compareAll: try compare(log.snapshot(), state, "now")
        case .rememberCommit: try rememberCommit(&random)
        case .askForCommit: try askForCommits()
        case .fillDisk: try fillDisk(&random)
        case .failRead: try failRead(&random)
        case .failCommit: try failCommit(&random)
        case .failCheckpoint: try failCheckpoint(&random)
        default: try open(operation.kind, &random)
        }
    }

    private func checkpoint() throws {
        try log.checkpoint()
        settle()
    }

    private func compact() throws {
        let report = try log.compact()
        guard report.damage.isEmpty else { throw ModelViolation("compaction met rot: \(report.damage)") }
        settle()
        try glance()
    }

    /// Lets two threads commit concurrently, each to its own object.
    private func commitByTwo(_ random: inout Seed) throws {
        guard let table = state.tableNumbers.first(where: { state[$0].count > 1 }) else { return }
        let ids = state[table].ids.suffix(2)
        let rows = ids.map { id in
            ModelRow(key: state[table][id]?.key.map { Array($0) }, payload: random.bytes(20))
        }
        draft = state
        let failures = LockedErrors()
        // Safe because the model is only changed under the writer lock, which one thread holds at a time.
        nonisolated(unsafe) let life = self
        DispatchQueue.concurrentPerform(iterations: 2) { writer in
            do {
                let id = ids[ids.startIndex + writer]
                for _ in 0..<2 {
                    _ = try life.log.write(author: nil) { transaction in
                        try life.put(rows[writer], id, in: table, &transaction)
                        life.state = life.draft
                        life.noteCommitted(at: transaction.sequence)
                    }
                }
            } catch {
                failures.add(error)
            }
        }
        if let error = failures.first { throw error }
        try glance()
    }

    /// The errors of several threads.
    private final class LockedErrors: Sendable {
        private let guardian = EngineLock()
        // Safe because the lock guards it.
        nonisolated(unsafe) private var errors: [any Error] = []
        var first: (any Error)? { guardian.withLock { errors.first } }
        func add(_ error: any Error) { guardian.withLock { errors.append(error) } }
    }

    /// Writes new versions of all objects of a table, so that segments are worth compacting.
    private func churnRows(_ random: inout Seed) throws {
        let table = random.pick(state.tableNumbers)
        for _ in 0..<3 {
            try commit { transaction in
                for (id, row) in draft[table].entries {
                    let key = row.key.map { Array($0) }
                    try put(ModelRow(key: key, payload: random.bytes(30)), id, in: table, &transaction)
                }
            }
        }
        try compact()
    }

    /// Runs as many checkpoints as trigger a merge, with a changed key before each.
    private func mergeRuns(_ random: inout Seed) throws {
        let tables = state.tableNumbers.filter { ModelTableKind(of: $0).hasPlain && state[$0].count > 0 }
        guard let table = tables.last else { return }
        for _ in 0..<5 {
            try commit { transaction in
                let id = random.pick(draft[table].ids)
                let key = freeKey(for: id, in: table, &random)
                try put(ModelRow(key: key, payload: [3]), id, in: table, &transaction)
            }
            try checkpoint()
        }
        try compare(log.snapshot(), state, "after merging")
    }

    private func checkUsage() throws {
        let usage = try log.usage()
        for table in state.tableNumbers {
            guard usage.recordCounts[TableID(rawValue: table)] ?? 0 == state[table].count else {
                throw ModelViolation("usage counts other objects in table \(table)")
            }
        }
        guard usage.recordCounts[.blobs] ?? 0 == state.blobs.count, usage.liveByteCount <= usage.byteCount else {
            throw ModelViolation("usage does not add up: \(usage)")
        }
    }

    // MARK: Outcomes

    private func rememberCommit(_ random: inout Seed) throws {
        let payload = random.bytes(10)
        let receipt = try commit { try insert(ModelRow(key: nil, payload: payload), in: 18, &$0) }
        remembered.append((receipt.transaction, try hotSegments()))
        if remembered.count > 3 { remembered.removeFirst() }
    }

    private func askForCommits() throws {
        guard try !log.landed(TransactionID(high: 7, low: 7)) else {
            throw ModelViolation("a transaction landed that was never written")
        }
        try forgetDropped()
        try expectRemembered()
    }

    /// Removes transactions whose segment compaction may have dropped, because they need not be found.
    ///
    /// Must also be called before the store is reopened, because recovery moves transactions to other segments.
    func forgetDropped() throws {
        let segments = try hotSegments()
        remembered.removeAll { !$0.segments.isSubset(of: segments) }
    }

    /// Checks that the remembered transactions are found, and updates their segments, which opening may change.
    func expectRemembered() throws {
        let segments = try hotSegments()
        for place in remembered.indices {
            guard try log.landed(remembered[place].transaction) else {
                // A thread may drop a segment at any time.
                if configuration.isThreaded { continue }
                throw ModelViolation("a transaction that landed is not found")
            }
            remembered[place].segments = segments
        }
    }

    private func hotSegments() throws -> Set<UInt64> {
        Set(try log.usage(countsLive: false).segments.filter { $0.kind == .hotSegment }.map(\.number))
    }
}
