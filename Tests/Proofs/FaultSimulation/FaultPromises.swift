import CrashSimulation
import FaultlineLog

/// The promises of a store so far: the expected content after each transaction, and which of them must, may and must
/// not be found.
struct FaultPromises: Sendable {
    /// The expected content of the store after each transaction, by number.
    private var states: [UInt64: CrashModel]
    /// The newest transaction whose commit returned.
    private(set) var acknowledged: UInt64
    /// The newest transaction that power loss must not lose.
    private(set) var durable: UInt64
    /// The newest transaction that may be found.
    private(set) var issued: UInt64
    /// Whether a commit is durable when it returns.
    let acknowledgesDurable: Bool

    init(_ sequence: UInt64, _ state: CrashModel, acknowledgesDurable: Bool) {
        states = [sequence: state]
        acknowledged = sequence
        durable = sequence
        issued = sequence
        self.acknowledgesDurable = acknowledgesDurable
    }

    /// The last owner of each number: that of a refused transaction is used again.
    private var owners: [UInt64: Int] = [:]

    /// The expected content at a number: those that compaction uses, for new placements of blobs, change nothing.
    func state(at sequence: UInt64) -> CrashModel {
        states.keys.filter { $0 <= sequence }.max().flatMap { states[$0] } ?? CrashModel()
    }

    /// The content before the transaction of a number.
    func state(before sequence: UInt64) -> CrashModel { state(at: sequence - 1) }

    /// The content that readers see.
    var visible: CrashModel { state(at: acknowledged) }

    /// All states that may be found while nothing is lost.
    var possible: [CrashModel] { (acknowledged...max(acknowledged, issued)).map { state(at: $0) } }

    /// Records the number of a transaction, and its effect.
    mutating func issue(_ state: CrashModel, at sequence: UInt64, to owner: Int) {
        issued = sequence
        states[sequence] = state
        owners[sequence] = owner
    }

    mutating func acknowledge(_ sequence: UInt64) {
        acknowledged = max(acknowledged, sequence)
        if acknowledgesDurable { durable = acknowledged }
    }

    /// The largest number of transactions of one compaction, for new placements of blobs.
    private static let compactionTransactionMax: UInt64 = 16

    /// Records that a checkpoint or a close returned.
    mutating func settle() { durable = acknowledged }

    /// Records a refused transaction: another may use its number, and its changes must not be found.
    mutating func refuse(_ sequence: UInt64, of owner: Int) {
        if owners[sequence] == owner { states[sequence] = state(before: sequence) }
    }

    /// Records the newest transaction that opening found, which settles the uncertain ones.
    mutating func find(_ sequence: UInt64) {
        acknowledged = sequence
        issued = sequence
        // Earlier ones may be read as states of the past.
        states[sequence] = state(at: sequence)
        states = states.filter { $0.key <= sequence }
    }

    /// The reason why a store must not be found at a transaction; nil if it may.
    func objection(to sequence: UInt64, afterPowerLoss: Bool) -> String? {
        let least = afterPowerLoss ? durable : acknowledged
        if sequence < least { return "transaction \(least) was acknowledged, \(sequence) is the newest" }
        if sequence > max(issued, acknowledged) + Self.compactionTransactionMax {
            return "transaction \(sequence) was never issued, only \(issued)"
        }
        return nil
    }
}
