import CrashSimulation
import FaultlineLog

/// What a store has promised so far: what each transaction made of it, and which ones must, may and must not be found.
struct FaultPromises: Sendable {
    /// What the store holds after the transaction of that number.
    private(set) var states: [UInt64: CrashModel]
    /// The newest transaction whose commit returned.
    private(set) var acknowledged: UInt64
    /// The newest that power loss must not take.
    private(set) var durable: UInt64
    /// The newest that may be found.
    private(set) var issued: UInt64
    /// Transactions whose commit said that they were not written.
    private(set) var refused: Set<UInt64> = []
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

    /// What the transaction of a number begins with.
    func state(before sequence: UInt64) -> CrashModel { states[sequence - 1] ?? CrashModel() }

    /// What those who read see.
    var visible: CrashModel { states[acknowledged] ?? CrashModel() }

    /// All that may be found while nothing is lost.
    var possible: [CrashModel] {
        (acknowledged...max(acknowledged, issued)).filter { !refused.contains($0) }.compactMap { states[$0] }
    }

    /// A transaction was given its number, and would make this of the store.
    mutating func issue(_ state: CrashModel, at sequence: UInt64, to owner: Int) {
        issued = sequence
        states[sequence] = state
        owners[sequence] = owner
        refused.remove(sequence)
    }

    mutating func acknowledge(_ sequence: UInt64) {
        acknowledged = max(acknowledged, sequence)
        if acknowledgesDurable { durable = acknowledged }
    }

    /// Transactions that one compaction makes at most, to place blobs anew.
    private static let compactionTransactionMax: UInt64 = 16

    /// Compaction changes nothing, but may make transactions.
    mutating func beginCompaction() {
        let state = visible
        issued = acknowledged + Self.compactionTransactionMax
        for sequence in acknowledged + 1...issued {
            states[sequence] = state
            refused.remove(sequence)
        }
    }

    /// A checkpoint or a close returned.
    mutating func settle() { durable = acknowledged }

    mutating func refuse(_ sequence: UInt64, of owner: Int) {
        if owners[sequence] == owner { refused.insert(sequence) }
    }

    /// The store was opened again and found at a transaction, which settles what was in doubt.
    mutating func find(_ sequence: UInt64) {
        acknowledged = sequence
        issued = sequence
        states = states.filter { $0.key <= sequence }
        refused = []
    }

    /// Why a store must not be found at a transaction; nil if it may.
    func objection(to sequence: UInt64, afterPowerLoss: Bool) -> String? {
        let least = afterPowerLoss ? durable : acknowledged
        if sequence < least { return "transaction \(least) was acknowledged, \(sequence) is the newest" }
        if sequence > issued { return "transaction \(sequence) was never issued, only \(issued)" }
        if refused.contains(sequence) { return "transaction \(sequence) was refused, and is there" }
        return nil
    }
}
