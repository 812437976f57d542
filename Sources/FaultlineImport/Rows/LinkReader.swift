#if Import
internal import FaultlineLog
internal import FaultlineStore

/// A link in the form of a new row.
struct SourceLink {
    let number: RecordID
    let left: RecordID
    let right: RecordID
    let leftOrder: UInt64
    let rightOrder: UInt64
}

extension ColumnTally {
    @inline(__always)
    mutating func add(_ link: SourceLink) {
        var hash = ValueHash(link.number)
        hash.add(link.left)
        hash.add(link.right)
        hash.add(link.leftOrder)
        hash.add(link.rightOrder)
        add(hash, byteCount: LinkRow.byteCount)
    }
}

/// Reads the links of a relationship by rising number.
final class LinkReader {
    private let links: StoreMapping.Links
    private let query: SQLiteQuery
    private let findings: FindingLog?

    /// The results of the query: the link's number, owner, member, and the entities of both.
    private enum Result {
        static let number = 0
        static let owner = 1
        static let member = 2
        static let ownerEntity = 3
        static let memberEntity = 4
    }

    /// Begins behind a number.
    ///
    /// - Throws: `ImportError` if the table cannot be read.
    init(
        _ database: SQLiteDatabase, _ links: StoreMapping.Links, after number: Int64, findings: FindingLog?
    ) throws(ImportError) {
        self.links = links
        self.findings = findings
        query = try database.query(links.sql)
        query.bind(number, at: 1)
    }

    /// The next link; nil behind the last one.
    ///
    /// - Throws: `ImportError` if the source cannot be read, or a finding cannot be written.
    func next() throws(ImportError) -> SourceLink? {
        while try query.next() {
            guard let number = query.integer(Result.number) else { continue }
            guard number > 0, number <= RowReader.numberMax - links.offset else {
                try note(.invalidNumber, number, .integer(number))
                continue
            }
            guard let owner = try end(Result.owner, Result.ownerEntity, links.owners, number),
                let member = try end(Result.member, Result.memberEntity, links.members, number)
            else { continue }
            let memberOrder = try order(links.memberOrder, number)
            let ownerOrder = try order(links.ownerOrder, number)
            let record = RecordID(number + links.offset)
            return links.side.isLeft
                ? SourceLink(
                    number: record, left: owner, right: member, leftOrder: memberOrder,
                    rightOrder: ownerOrder)
                : SourceLink(
                    number: record, left: member, right: owner, leftOrder: ownerOrder,
                    rightOrder: memberOrder)
        }
        return nil
    }

    private func note(
        _ reason: ImportFinding.Reason, _ number: Int64, _ value: SQLiteValue
    ) throws(ImportError) {
        // The other end is not in the new store either.
        let row = [
            (name: links.columns.owner, value: FoundValue.value(query.value(Result.owner))),
            (name: links.columns.member, value: FoundValue.value(query.value(Result.member))),
        ]
        try findings?.note(reason, links.entity, links.name, number, column: links.table, .value(value), row: row)
    }

    /// An end of the link; nil if it cannot be linked.
    private func end(
        _ index: Int, _ entityIndex: Int, _ entities: Set<Int64>, _ number: Int64
    ) throws(ImportError) -> RecordID? {
        let value = query.value(index)
        guard case .integer(let target) = value else {
            try note(.wrongType, number, value)
            return nil
        }
        guard target > 0, target <= RowReader.numberMax, let type = query.integer(entityIndex), entities.contains(type)
        else {
            try note(.missingObject, number, value)
            return nil
        }
        return RecordID(target)
    }

    private func order(_ order: StoreMapping.Order?, _ number: Int64) throws(ImportError) -> UInt64 {
        let usual = MemberKey.defaultOrder(of: RecordID(number + links.offset))
        guard let order else { return usual }
        let position = query.value(order.index)
        switch position {
        case .integer(let position): return order.scale.key(position)
        case .null: return usual
        default:
            try note(.unknownOrder, number, position)
            return usual
        }
    }
}
#endif
