internal import FaultlineLog
internal import FaultlineStore

/// A member's entry in the index of a relationship.
struct StoredMember: Equatable {
    let number: RecordID
    let order: UInt64
    /// The number of the index's row: the member's, or the link's.
    let row: RecordID
}

extension MemberReader {
    /// The members that an owner has in one state of the store.
    func storedMembers(
        of owner: RecordID, in index: IndexDefinition, at snapshot: Snapshot
    ) throws -> [StoredMember] {
        try storedMembers(of: owner) { try snapshot.forEachEntry(in: index, prefix: $0, $1) }
    }

    /// The members that an owner has when a transaction begins, including those of saves that are queued before it,
    /// which no snapshot shows yet; at most `limit`, in their order.
    func storedMembers(
        of owner: RecordID, in index: IndexDefinition, limit: Int = .max, _ transaction: borrowing Transaction
    ) throws -> [StoredMember] {
        try storedMembers(of: owner, limit: limit) { try transaction.forEachEntry(in: index, prefix: $0, $1) }
    }

    /// The row of the link between two objects; nil if there is none.
    ///
    /// O(m) for the m links of that one of the two which has fewer: the links of both are visited in turns, each turn as
    /// far as four times the turn before.
    func storedLink(
        between one: (number: RecordID, index: IndexDefinition), and other: (number: RecordID, index: IndexDefinition),
        _ transaction: borrowing Transaction
    ) throws -> RecordID? {
        var limit = 64
        while true {
            for (owner, member) in [(one, other), (other, one)] {
                let found = try storedMembers(of: owner.number, in: owner.index, limit: limit, transaction)
                if let link = found.first(where: { $0.number == member.number }) { return link.row }
                if found.count < limit { return nil }
            }
            limit *= 4
        }
    }

    private func storedMembers(
        of owner: RecordID, limit: Int = .max,
        _ walk: (UnsafeRawBufferPointer, (UnsafeRawBufferPointer, RecordID) throws -> Bool) throws -> Void
    ) throws -> [StoredMember] {
        var members: [StoredMember] = []
        try MemberKey.withPrefix(owner: owner) { prefix in
            try walk(prefix) { key, row in
                if let number = MemberKey.member(key, id: row), let order = MemberKey.order(key) {
                    members.append(StoredMember(number: number, order: order, row: row))
                }
                return members.count < limit
            }
        }
        context.reports.walked.indexEntries += members.count
        return members
    }
}
