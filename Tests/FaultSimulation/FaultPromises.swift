import CrashSimulation
import FaultlineLog

/// What a store has promised so far: what each transaction made of it, and which ones must, may and must not be found.
struct FaultPromises: Sendable {
    /// What the store holds after the transaction of that number.
    private var states: [UInt64: CrashModel]
    /// The newest transaction whose commit returned.
    private(set) var acknowledged: UInt64
    /// The newest that power loss must not take.
    private(set) var durable: UInt64
    /// The newest that may be found.
    private(set) var issued: UInt64
    /// Whether a commit that returned is durable.
    let acknowledgesDurable: Bool

    init(_ sequence: UInt64, _ state: CrashModel, acknowledgesDurable: Bool) {
        states = [sequence: state]
        acknowledged = sequence
        durable = sequence
        issued = sequence
        self.acknowledgesDurable = acknowledgesDurable
    }

    /// Who was given each number last: one that was refused is given again.
    private var owners: [UInt64: Int] = [:]

    /// What the store holds at a number: those that compaction took, to place blobs anew, change nothing.
    func state(at sequence: UInt64) -> CrashModel {
        states.keys.filter { $0 <= sequence }.max().flatMap { states[$0] } ?? CrashModel()
    }

    /// What the transaction of a number begins with.
    func state(before sequence: UInt64) -> CrashModel { state(at: sequence - 1) }

    /// What those who read see.
    var visible: CrashModel { state(at: acknowledged) }

    /// All that may be found while nothing is lost.
    var possible: [CrashModel] { (acknowledged...max(acknowledged, issued)).map { state(at: $0) } }

    /// A transaction was given its number, and would make this of the store.
    mutating func issue(_ state: CrashModel, at sequence: UInt64, to owner: Int) {
        issued = sequence
        states[sequence] = state
        owners[sequence] = owner
    }

    mutating func acknowledge(_ sequence: UInt64) {
        acknowledged = max(acknowledged, sequence)
        if acknowledgesDurable { durable = acknowledged }
    }

    /// Transactions that one compaction makes at most, to place blobs anew.
    private static let compactionTransactionMax: UInt64 = 16

    /// A checkpoint or a close returned.
    mutating func settle() { durable = acknowledged }

    /// The commit said that the transaction was not written: its number may be another's, its changes must not be there.
    mutating func refuse(_ sequence: UInt64, of owner: Int) {
        if owners[sequence] == owner { states[sequence] = state(before: sequence) }
    }

    /// The store was opened again and found at a transaction, which settles what was in doubt.
    mutating func find(_ sequence: UInt64) {
        acknowledged = sequence
        issued = sequence
        states = [sequence: state(at: sequence)]
    }

    /// Why a store must not be found at a transaction; nil if it may.
    func objection(to sequence: UInt64, afterPowerLoss: Bool) -> String? {
        let least = afterPowerLoss ? durable : acknowledged
        if sequence < least { return "transaction \(least) was acknowledged, \(sequence) is the newest" }
        if sequence > max(issued, acknowledged) + Self.compactionTransactionMax {
            return "transaction \(sequence) was never issued, only \(issued)"
        }
        return nil
    }
}
