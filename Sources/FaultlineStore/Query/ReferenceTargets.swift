internal import FaultlineDisk
package import FaultlineLog
internal import Synchronization

/// The existing targets of a to-one slot, for a filter: the objects of a table in one state of the store, without those
/// whose deletion is not saved yet.
///
/// A slot that refers to none of them reads as nil.
package final class ReferenceTargets: Sendable {
    /// A bit in the reference to an unsaved object, which is in no table.
    @inlinable package static var temporaryBit: RecordID {
        @inline(__always) get { 1 << 47 }
    }

    /// The table of the objects.
    package let table: TableID
    private let snapshot: Snapshot
    private let deleted: Set<RecordID>
    private let failure = Guarded<LogError?>(nil)

    /// Nil if every reference refers to an object, because none was ever deleted from the table.
    ///
    /// - Complexity: O(1).
    package init?(in table: TableID, of snapshot: Snapshot, without deleted: Set<RecordID>) {
        let givenCount = snapshot.nextID(of: table) - 1
        if deleted.isEmpty, givenCount == UInt64(snapshot.recordCount(of: table)) { return nil }
        self.table = table
        self.snapshot = snapshot
        self.deleted = deleted
    }

    /// Whether a reference refers to a deleted object; false for nil, and if the page cannot be read, which `check`
    /// throws.
    ///
    /// - Complexity: One look-up in a page of the location table.
    package func isGone(_ number: RecordID) -> Bool {
        if number == 0 { return false }
        if deleted.contains(number) { return true }
        if number & Self.temporaryBit != 0 { return false }
        do throws(LogError) { return try snapshot.location(of: number, in: table).isAbsent } catch {
            failure.withLock { if $0 == nil { $0 = error } }
            return false
        }
    }

    /// Throws an error that `isGone` could not throw: to be called before its answers count.
    package func check() throws(LogError) {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}

extension ReferenceTargets: Hashable {
    package static func == (left: ReferenceTargets, right: ReferenceTargets) -> Bool { left === right }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
