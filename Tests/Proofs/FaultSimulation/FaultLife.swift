import CrashSimulation
import Dispatch
import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport

/// Runs a leg's steps on a disk that may fail, and continues after errors as a program would: keeps all errors, and the
/// promises.
// Safe because the changing state is guarded by `guardian`, except for `log`, which changes between steps only.
final class FaultLife: @unchecked Sendable {
    let path: String
    private let disk: Disk
    private let options: LogOptions
    private let seed: UInt64
    private let guardian = EngineLock()
    private var promised: FaultPromises
    private var met: [(step: FaultStep, error: any Error)] = []
    private var metInPast: [LogError] = []
    private var wrong: String?
    private var transactionCount = 0
    private(set) var log: Log?

    init(_ path: String, on disk: Disk, _ options: LogOptions, _ promises: FaultPromises, seed: UInt64) {
        self.path = path
        self.disk = disk
        self.options = options
        self.seed = seed
        promised = promises
    }

    var promises: FaultPromises { guardian.withLock { promised } }
    /// The errors of steps, in order.
    var errors: [(step: FaultStep, error: any Error)] { guardian.withLock { met } }
    /// The errors that ended the window of past states, which no step reports.
    var pastErrors: [LogError] { guardian.withLock { metInPast } }
    /// A fault of the store without an error; nil if there is none.
    var violation: String? { guardian.withLock { wrong } }

    func run(_ steps: [FaultStep]) {
        for step in steps { take(step) }
    }

    /// Detaches from the store as a killed process would.
    func letGo() {
        log?.abandonForTests()
        log = nil
    }

    func take(_ step: FaultStep) {
        let before = log
        defer {
            for failure in [before, log].compactMap({ $0?.pastFailure }) {
                guardian.withLock { metInPast.append(failure) }
            }
        }
        do {
            switch step {
            case .open: try open(.writing)
            case .openForReading: try open(.reading)
            case .kill: letGo()
            case .salvage: try salvage()
            default: if let log { try take(step, log) }
            }
        } catch {
            guardian.withLock { met.append((step, error)) }
        }
    }

    private func take(_ step: FaultStep, _ log: Log) throws {
        switch step {
        case .open, .openForReading, .kill, .salvage: break
        case .commit(let count): try commit(log) { try $0.change(count, &$1, &$2) }
        case .commitBlobs(let sizes): try commit(log) { try $0.putBlobs(sizes, &$1, &$2) }
        case .streamBlob(let byteCount): try commit(log) { try $0.streamBlob(byteCount, &$1, &$2) }
        case .upload(let byteCount): try upload(log, byteCount)
        case .commitRow(let byteCount): try commit(log) { try $0.putRow(byteCount, &$1, &$2) }
        case .giveUp(let count): try giveUp(log, count)
        case .commitByTwo(let count): commitByTwo(log, count, step)
        case .dropTable:
            try commit(log) { work, state, transaction in try work.replaceTable(&state, &transaction) }
        case .checkpoint:
            try log.checkpoint()
            guardian.withLock { promised.settle() }
        case .compact: try compact(log)
        case .read: try read(log)
        case .verify: try verify(log)
        case .inspect: try inspect(log)
        case .close:
            // The handle is gone, even if closing fails.
            self.log = nil
            try log.close()
            if log.failure == nil { guardian.withLock { promised.settle() } }
        }
    }

    private func note(_ violation: String) {
        guardian.withLock { if wrong == nil { wrong = violation } }
    }

    private func open(_ access: LogAccess) throws {
        var options = options
        options.access = access
        let opened = try Log.open(path, on: disk, clock: Clock { 3_000 }, options: options, deriver: CrashDeriver())
        log = opened
        let sequence = opened.snapshot().sequence
        guardian.withLock {
            if let objection = promised.objection(to: sequence, afterPowerLoss: false), wrong == nil {
                wrong = objection
            }
            promised.find(sequence)
        }
    }

    // MARK: Transactions

    private typealias Body = (inout FaultWork, inout CrashModel, inout Transaction) throws -> Void

    private func commit(_ log: Log, _ body: Body) throws {
        let number = guardian.withLock {
            transactionCount += 1
            return UInt64(transactionCount)
        }
        var sequence: UInt64?
        do {
            let receipt = try log.write(author: nil) { transaction in
                var work = FaultWork(Seed(seed &* 1_000 &+ number))
                let place = transaction.sequence
                var state = promises.state(before: place)
                try body(&work, &state, &transaction)
                // The writer lock is still held: no other transaction gets this number.
                guardian.withLock { promised.issue(state, at: place, to: Int(number)) }
                sequence = place
            }.receipt
            guard receipt.sequence == sequence else {
                return note("a transaction got the number \(receipt.sequence) instead of \(sequence ?? 0)")
            }
            guardian.withLock { promised.acknowledge(receipt.sequence) }
        } catch {
            if let sequence, (error as? LogError)?.code != .outcomeUnknown {
                guardian.withLock { promised.refuse(sequence, of: Int(number)) }
            }
            throw error
        }
    }

    private func upload(_ log: Log, _ byteCount: Int) throws {
        var random = Seed(seed)
        let bytes = random.bytes(byteCount)
        let upload = try log.beginUpload()
        for piece in [bytes.prefix(byteCount / 3), bytes.dropFirst(byteCount / 3)] {
            try piece.withUnsafeBytes { try upload.append($0) }
        }
        let finished = try upload.finish()
        try commit(log) { _, state, transaction in
            let id = try transaction.putBlob(finished, owner: BlobOwner(table: TableID(rawValue: 16), slot: 1, id: 1))
            state.blobs[id] = bytes
        }
    }

    private struct Change: Error {}

    private func giveUp(_ log: Log, _ count: Int) throws {
        do {
            _ = try log.write(author: nil) { transaction in
                var work = FaultWork(Seed(seed))
                var state = promises.state(before: transaction.sequence)
                try work.change(count, &state, &transaction)
                throw Change()
            }
        } catch is Change {}
    }

    private func commitByTwo(_ log: Log, _ count: Int, _ step: FaultStep) {
        DispatchQueue.concurrentPerform(iterations: 2) { writer in
            for _ in 0..<count {
                do {
                    try commit(log) { work, state, transaction in
                        try work.insert(3, in: TableID(rawValue: 16 + UInt16(writer)), &state, &transaction)
                    }
                } catch {
                    guardian.withLock { met.append((step, error)) }
                }
            }
        }
    }

    private func compact(_ log: Log) throws {
        // Published moves stay, even after an error.
        defer { guardian.withLock { promised.acknowledge(log.snapshot().sequence) } }
        try log.compact()
        guardian.withLock {
            promised.acknowledge(log.snapshot().sequence)
            promised.settle()
        }
    }

    // MARK: Reading

    private func read(_ log: Log) throws {
        if let difference = try CrashCheck.difference(log.snapshot(), promises.visible) {
            note("reading: \(difference)")
        }
    }

    private func verify(_ log: Log) throws {
        var findings: [Finding] = []
        try log.verify({ findings.append($0) }, progress: { _, _ in })
        if let first = findings.first { note("verification finds: \(first)") }
    }

    /// Bytes that the disk cannot read count as lost, and are reported; everything else is in the new store.
    private func salvage() throws {
        let target = path + ".salvaged"
        let salvage = Salvage(
            to: target, on: disk, clock: Clock { 3_000 }, options: options, deriver: CrashDeriver())
        try salvage.checkDestination(outside: path)
        let report = try salvage.run(
            try SalvageSource.open(path, on: disk), finding: { _ in }, progress: { _, _, _ in })
        if report.hasLoss { return }
        let salvaged = try Log.open(
            target, on: disk, clock: Clock { 3_000 }, options: options, deriver: CrashDeriver())
        defer { salvaged.abandonForTests() }
        // A transaction of unknown outcome may have landed.
        var difference: String?
        for state in promises.possible {
            difference = try CrashCheck.difference(salvaged.snapshot(), state)
            if difference == nil { return }
        }
        note("the salvaged store: \(difference ?? "nothing may be found")")
    }

    private func inspect(_ log: Log) throws {
        _ = try log.usage()
        if try log.landed(TransactionID(high: 1, low: 1)) { note("a transaction landed that was never written") }
        for (table, rows) in promises.visible.rows {
            var found: [RecordID: [UInt8]] = [:]
            try log.snapshot().scan(table, from: 1, through: .max, readAhead: 4_096) { records in
                for record in records { found[record.id] = Array(record.row) }
                return true
            }
            if found != rows { note("a scan of table \(table.rawValue) gives other rows") }
        }
    }
}
