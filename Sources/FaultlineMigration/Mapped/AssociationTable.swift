internal import FaultlineLog
internal import FaultlineStore

/// The pairs of old and new objects of one mapping: links of a hidden table, so that they need no memory.
///
/// The table is dropped with the switch.
struct AssociationTable {
    private let side: LinkSide

    init(_ link: StoredLink) { side = LinkSide(link, isLeft: true) }

    func associate(
        _ source: RecordID, with destination: RecordID, _ writer: inout RowWriter, in transaction: inout Transaction
    ) throws {
        let id = try transaction.allocateIDs(1, in: side.table)
        // New objects are ordered by their creation.
        try writer.link(id, left: source, right: destination, leftOrder: id, rightOrder: id, side, in: &transaction)
    }

    /// The new objects of an old one.
    func destinations(of source: RecordID, in snapshot: Snapshot) throws -> [RecordID] {
        try snapshot.members(of: source, in: side.index)
    }

    /// The old objects of a new one.
    func sources(of destination: RecordID, in snapshot: Snapshot) throws -> [RecordID] {
        try snapshot.members(of: destination, in: side.otherIndex)
    }

    /// How many pairs there are.
    func count(in snapshot: Snapshot) -> Int { snapshot.recordCount(of: side.table) }

    /// The highest number that a pair may have; 0 for none.
    func last(in snapshot: Snapshot) -> RecordID { snapshot.nextID(of: side.table) - 1 }

    /// Walks the pairs in the order of their creation, from after one through another, each with its number.
    func forEach(
        in snapshot: Snapshot, after last: RecordID = 0, through end: RecordID = Limits.recordIDMax,
        _ body: (_ source: RecordID, _ destination: RecordID, _ number: RecordID) throws -> Void
    ) throws {
        try snapshot.scan(side.table, from: last + 1, through: end, readAhead: 128 << 10) { records in
            for record in records {
                guard let link = LinkRow.read(record.row) else { continue }
                try body(link.left, link.right, record.id)
            }
            return true
        }
    }
}
