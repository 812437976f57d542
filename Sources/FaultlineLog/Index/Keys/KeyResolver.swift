/// Decides from a key's entries which object has the key.
///
/// The rule: **the newest transaction that touched the key decides alone.** Of its entries for an identifier the last
/// one counts. A delete removes only its own identifier, in either order of a swap's two appends. An identifier
/// whose last entry is an insert has the key. If there is none, no object has the key, and older entries need not be
/// read.
///
/// That is right because a transaction deletes an entry only of an identifier that had the key, and inserts one only if
/// no other object has the key at the transaction's end. So if a transaction left only deletes, only their identifiers
/// had the key before it.
///
/// Entries may come in any order of their sequence numbers; those of one identifier and one sequence number must come
/// newest first.
struct KeyResolver {
    /// The answer so far.
    ///
    /// If it is a delete, it names one of the identifiers that lost the key.
    private(set) var finding: IndexFinding?

    /// More identifiers that the deciding transaction deleted, beside the finding's own.
    private var otherDeleted: [RecordID] = []

    /// Whether an object has the key: no entry of the same transaction or an older one can change it.
    @inline(__always)
    var isLive: Bool {
        guard let finding else { return false }
        return !finding.isDelete
    }

    /// Whether entries of that sequence number could still matter.
    @inline(__always)
    func wants(_ sequence: UInt64) -> Bool {
        guard let finding else { return true }
        return finding.isDelete ? sequence >= finding.sequence : sequence > finding.sequence
    }

    /// Takes one entry of the key into account.
    @inline(__always)
    mutating func visit(id: RecordID, sequence: UInt64, isDelete: Bool) {
        guard let known = finding else {
            finding = IndexFinding(id: id, sequence: sequence, isDelete: isDelete)
            return
        }
        if sequence < known.sequence { return }
        if sequence > known.sequence {
            finding = IndexFinding(id: id, sequence: sequence, isDelete: isDelete)
            otherDeleted.removeAll(keepingCapacity: true)
            return
        }
        if known.isDelete { visitSameTransaction(id: id, sequence: sequence, isDelete: isDelete, known: known) }
    }

    @inline(never)
    private mutating func visitSameTransaction(id: RecordID, sequence: UInt64, isDelete: Bool, known: IndexFinding) {
        if id == known.id || otherDeleted.contains(id) { return }
        if isDelete {
            otherDeleted.append(id)
        } else {
            finding = IndexFinding(id: id, sequence: sequence, isDelete: false)
        }
    }
}
