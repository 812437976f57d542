internal import FaultlineLog
internal import FaultlineStore

/// The pairs of old and new objects of one mapping: links of a hidden table, so that they need no memory.
///
/// The table is dropped with the switch.
final class AssociationTable {
    private let side: LinkSide
    /// Pairs that look-ups and walks have visited.
    private(set) var visitedCount = 0

    init(_ link: StoredLink) { side = LinkSide(link, isLeft: true) }

    func associate(
        _ source: RecordID, with destination: RecordID, _ writer: inout RowWriter, in transaction: inout Transaction
    ) throws {
        let id = try transaction.allocateIDs(1, in: side.table)
        // New objects are ordered by their creation.
        try writer.link(id, left: source, right: destination, leftOrder: id, rightOrder: id, side, in: &transaction)
    }

    /// Calls `body` with the new objects of an old one, in the order of their creation; it returns false to stop.
    func forEachDestination(
        of source: RecordID, in snapshot: Snapshot, _ body: (RecordID) throws -> Bool
    ) throws {
        try forEachMember(of: source, side.index, in: snapshot, body)
    }

    /// Calls `body` with the old objects of a new one, in the order in which they were associated; it returns false to
    /// stop.
    func forEachSource(
        of destination: RecordID, in snapshot: Snapshot, _ body: (RecordID) throws -> Bool
    ) throws {
        try forEachMember(of: destination, side.otherIndex, in: snapshot, body)
    }

    /// The old objects of a new one, at most `limit`, in the order in which they were associated.
    func sources(of destination: RecordID, limit: Int = .max, in snapshot: Snapshot) throws -> [RecordID] {
        try members(of: destination, side.otherIndex, limit: limit, in: snapshot)
    }

    /// Whether an old object became a new one.
    ///
    /// - Complexity: O(m) for the m pairs of that one of the two which has fewer: the pairs of both are visited in turns,
    ///   each turn as far as four times the turn before.
    func contains(_ source: RecordID, _ destination: RecordID, in snapshot: Snapshot) throws -> Bool {
        var limit = 16
        while true {
            for (owner, member, index) in [
                (source, destination, side.index), (destination, source, side.otherIndex),
            ] {
                let found = try members(of: owner, index, limit: limit, in: snapshot)
                if found.contains(member) { return true }
                if found.count < limit { return false }
            }
            limit *= 4
        }
    }

    private func members(
        of owner: RecordID, _ index: IndexDefinition, limit: Int, in snapshot: Snapshot
    ) throws -> [RecordID] {
        var found: [RecordID] = []
        try forEachMember(of: owner, index, in: snapshot) { member in
            found.append(member)
            return found.count < limit
        }
        return found
    }

    private func forEachMember(
        of owner: RecordID, _ index: IndexDefinition, in snapshot: Snapshot, _ body: (RecordID) throws -> Bool
    ) throws {
        try MemberKey.withPrefix(owner: owner) { prefix in
            try snapshot.forEachEntry(in: index, prefix: prefix) { key, id in
                visitedCount += 1
                guard let member = MemberKey.member(key, id: id) else { return true }
                return try body(member)
            }
        }
    }

    /// How many pairs there are.
    func count(in snapshot: Snapshot) -> Int { snapshot.recordCount(of: side.table) }

    /// The highest number that a pair may have; 0 for none.
    func last(in snapshot: Snapshot) -> RecordID { snapshot.nextID(of: side.table) - 1 }

    /// Walks the pairs in the order of their creation, from after one through another, each with its number.
    ///
    /// `willVisit` gets some of the pairs before `body` gets each of them.
    func forEach(
        in snapshot: Snapshot, after last: RecordID = 0, through end: RecordID = Limits.recordIDMax,
        willVisit: (_ pairs: [(source: RecordID, destination: RecordID)]) -> Void,
        _ body: (_ source: RecordID, _ destination: RecordID, _ number: RecordID) throws -> Void
    ) throws {
        try snapshot.scan(side.table, from: last + 1, through: end, readAhead: 128 << 10) { records in
            willVisit(records.compactMap { LinkRow.read($0.row).map { ($0.left, $0.right) } })
            for record in records {
                guard let link = LinkRow.read(record.row) else { continue }
                visitedCount += 1
                try body(link.left, link.right, record.id)
            }
            return true
        }
    }
}
