internal import FaultlineDisk
internal import FaultlineLog
internal import Synchronization

/// The totals of text indexes at the states that were searched last.
package final class TextTotalsCache: Sendable {
    private struct Known {
        let sequence: UInt64
        let objectCount: Int
        let totals: TextTotals
    }

    private let known = Guarded<[UInt32: Known]>([:])
    private let counted = Atomic<Int>(0)

    init() {}

    /// How often the lengths of all objects were added.
    package var countingCount: Int { counted.load(ordering: .relaxed) }

    /// The totals of an index at a state; nil if they are not known.
    ///
    /// Those of an older state are right if no entry came since, and there are as many objects. An object that came or
    /// changed since has such an entry, unless it was deleted again; entries of deletions may be gone, so objects that
    /// were deleted are known by the number of the others. Entries that came since, and are in memory, are added.
    ///
    /// - Parameters:
    ///   - index: The index.
    ///   - snapshot: The state.
    ///   - objectCount: The number of objects of the index's entity in the state.
    /// - Returns: The totals.
    /// - Throws: Errors of the log.
    func find(_ index: TextIndex, at snapshot: Snapshot, objectCount: Int) throws(StoreError) -> TextTotals? {
        guard let known = known.withLock({ $0[index.definition.id.rawValue] }) else { return nil }
        if known.sequence == snapshot.sequence { return known.totals }
        // A state before the known one does not tell of entries between the two.
        guard known.sequence < snapshot.sequence else { return nil }
        if snapshot.newestSequence(in: index.definition) <= known.sequence {
            return known.objectCount == objectCount ? known.totals : nil
        }
        let change: TextTotalsChange?
        do throws(LogError) { change = try TextTotalsChange(of: index, behind: known.sequence, at: snapshot) } catch {
            throw StoreError(error)
        }
        guard let change, known.objectCount + change.objectCount == objectCount,
            let totals = known.totals.changed(by: change)
        else { return nil }
        note(totals, of: index, at: snapshot, objectCount: objectCount)
        return totals
    }

    /// Records the totals of an index at a state that were made of the lengths of all objects.
    func noteCounted(_ totals: TextTotals, of index: TextIndex, at snapshot: Snapshot, objectCount: Int) {
        counted.wrappingAdd(1, ordering: .relaxed)
        note(totals, of: index, at: snapshot, objectCount: objectCount)
    }

    /// Records totals, unless those of a later state are known.
    private func note(_ totals: TextTotals, of index: TextIndex, at snapshot: Snapshot, objectCount: Int) {
        let number = index.definition.id.rawValue
        known.withLock { known in
            if let later = known[number], later.sequence > snapshot.sequence { return }
            known[number] = Known(sequence: snapshot.sequence, objectCount: objectCount, totals: totals)
        }
    }
}

/// The sums of the entries that transactions have added to a text index and removed from it.
struct TextTotalsChange {
    /// Objects with lengths.
    private(set) var documentCount = 0
    /// The same, and those that are set aside: each object of the entity has one entry of either kind.
    private(set) var objectCount = 0
    private(set) var lengths: [Int]
    private var isMalformed = false

    /// - Returns: Nil if memory does not have all of the entries, or one is no key.
    init?(of index: TextIndex, behind sequence: UInt64, at snapshot: Snapshot) throws(LogError) {
        lengths = Array(repeating: 0, count: index.slots.count)
        let hasLengths = try snapshot.forEachChange(
            in: index.definition, prefix: [TextTerms.lengthsMark], behind: sequence
        ) { add($0, isDelete: $1) }
        let hasAside = try snapshot.forEachChange(
            in: index.definition, prefix: [TextTerms.asideMark], behind: sequence
        ) { objectCount += $1 ? -1 : 1 }
        if isMalformed || !hasLengths || !hasAside { return nil }
    }

    private mutating func add(_ key: UnsafeRawBufferPointer, isDelete: Bool) {
        var reader = PostingReader(UnsafeRawBufferPointer(rebasing: key.dropFirst(9)))
        let sign = isDelete ? -1 : 1
        for field in lengths.indices { lengths[field] &+= sign * reader.number() }
        documentCount += sign
        objectCount += sign
        if reader.isMalformed || !reader.isAtEnd { isMalformed = true }
    }
}
