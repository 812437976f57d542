internal import FaultlineLog
internal import FaultlineStore

/// Finds the stored links between pairs of objects, all in common rounds; many pairs are searched in several parts.
///
/// Each round goes on with the walks over the links of all left objects that still have an open pair, and then with
/// those of the right ones, or the reverse: first those of the side with fewer such objects. A pair is settled when its
/// link is met, or when one of its objects has no more links. Both sides together read as many entries as four times the
/// side that had read fewer before the round.
///
/// - Complexity: O(min(l, r)) index entries for the l links of all left objects and the r links of all right ones; and
///   one entry for each object at least, if it has any.
struct LinkSearch {
    typealias Pair = LinkChanges.Pair

    /// The objects on one side of the link table.
    private struct Side {
        let isLeft: Bool
        let index: IndexDefinition
        /// The objects on the other side to which one is perhaps linked.
        var open: [RecordID: Set<RecordID>] = [:]
        var walks: [RecordID: StoredMemberWalk] = [:]
        var readCount = 0

        /// Records that a pair is settled.
        mutating func close(_ owner: RecordID, _ member: RecordID) {
            open[owner]?.remove(member)
            guard open[owner]?.isEmpty == true else { return }
            open[owner] = nil
            walks[owner] = nil
        }
    }

    /// Pairs that are searched at once: each takes up to 200 bytes.
    private static let pairCountMax = 32_768
    /// Entries that the first round reads on each side, if it has fewer objects.
    private static let firstCount = 64

    private var left: Side
    private var right: Side
    private var pairCount = 0
    /// The rows of the links that were found.
    private(set) var rows: [Pair: RecordID] = [:]

    init(_ changes: LinkChanges) {
        left = Side(isLeft: true, index: changes.leftIndex)
        right = Side(isLeft: false, index: changes.rightIndex)
    }

    /// Whether it takes more pairs.
    var hasRoom: Bool { pairCount < Self.pairCountMax }

    /// Adds a pair whose link is to be found.
    mutating func add(_ pair: Pair) {
        pairCount += 1
        left.open[pair.left, default: []].insert(pair.right)
        right.open[pair.right, default: []].insert(pair.left)
    }

    /// Finds the links of all pairs that have one.
    mutating func run(_ reader: MemberReader, _ transaction: borrowing Transaction) throws {
        var limit = max(Self.firstCount, left.open.count, right.open.count)
        while !left.open.isEmpty {
            if left.open.count <= right.open.count {
                try Self.walk(&left, &right, &rows, limit, reader, transaction)
                try Self.walk(&right, &left, &rows, limit, reader, transaction)
            } else {
                try Self.walk(&right, &left, &rows, limit, reader, transaction)
                try Self.walk(&left, &right, &rows, limit, reader, transaction)
            }
            // An object with an open pair has been read once at least, so its walk goes on in the next round.
            limit = 4 * max(Self.firstCount / 4, min(left.readCount, right.readCount))
        }
    }

    /// Goes on with the walks of one side until it has read `limit` entries in all rounds.
    private static func walk(
        _ side: inout Side, _ other: inout Side, _ rows: inout [Pair: RecordID], _ limit: Int, _ reader: MemberReader,
        _ transaction: borrowing Transaction
    ) throws {
        guard !side.open.isEmpty else { return }
        let share = (limit - side.readCount) / side.open.count
        guard share > 0 else { return }
        // In a fixed order, that of the index.
        for owner in side.open.keys.sorted() {
            guard var wanted = side.open[owner] else { continue }
            var walk = side.walks[owner] ?? StoredMemberWalk(owner: owner, index: side.index)
            side.readCount += try reader.advance(&walk, by: share, transaction) { member in
                if wanted.remove(member.number) != nil {
                    rows[Pair(owner, member.number, isLeft: side.isLeft)] = member.row
                    other.close(member.number, owner)
                }
                return !wanted.isEmpty
            }
            if walk.isAtEnd {
                for member in wanted { other.close(member, owner) }
                wanted.removeAll()
            }
            side.open[owner] = wanted.isEmpty ? nil : wanted
            side.walks[owner] = wanted.isEmpty ? nil : walk
        }
    }
}
