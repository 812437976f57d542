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
    /// which no snapshot shows yet.
    func storedMembers(
        of owner: RecordID, in index: IndexDefinition, _ transaction: borrowing Transaction
    ) throws -> [StoredMember] {
        try storedMembers(of: owner) { try transaction.forEachEntry(in: index, prefix: $0, $1) }
    }

    private func storedMembers(
        of owner: RecordID,
        _ walk: (UnsafeRawBufferPointer, (UnsafeRawBufferPointer, RecordID) throws -> Bool) throws -> Void
    ) throws -> [StoredMember] {
        var members: [StoredMember] = []
        try MemberKey.withPrefix(owner: owner) { prefix in
            try walk(prefix) { key, row in
                if let number = MemberKey.member(key, id: row), let order = MemberKey.order(key) {
                    members.append(StoredMember(number: number, order: order, row: row))
                }
                return true
            }
        }
        context.reports.walked.indexEntries += members.count
        return members
    }
}
