internal import FaultlineLog
internal import FaultlineStore

/// A member's entry in the index of a relationship.
struct StoredMember: Equatable {
    let number: RecordID
    let order: UInt64
    /// The number of the index's row: the member's, or the link's.
    let row: RecordID
}

/// The position of a walk over the members that an owner has when a transaction begins.
struct StoredMemberWalk {
    let owner: RecordID
    let index: IndexDefinition
    /// The entry that was read last; nil before the first.
    fileprivate var last: (key: [UInt8], row: RecordID)?
    /// Whether there are no more.
    fileprivate(set) var isAtEnd = false

    init(owner: RecordID, index: IndexDefinition) {
        self.owner = owner
        self.index = index
    }
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

    /// Calls `body` with the next members of a walk, at most `count`; it returns false to end the walk early.
    ///
    /// - Returns: The entries that were read.
    func advance(
        _ walk: inout StoredMemberWalk, by count: Int, _ transaction: borrowing Transaction,
        _ body: (StoredMember) -> Bool
    ) throws -> Int {
        var read = 0
        var last = walk.last
        var isStopped = false
        func take(_ key: UnsafeRawBufferPointer, _ row: RecordID) -> Bool {
            // The walk resumes at the entry that it has read last.
            if let end = walk.last, row <= end.row, key.elementsEqual(end.key) { return true }
            guard let number = MemberKey.member(key, id: row), let order = MemberKey.order(key) else { return true }
            read += 1
            if read == count { last = (Array(key), row) }
            isStopped = !body(StoredMember(number: number, order: order, row: row)) || read == count
            return !isStopped
        }
        try MemberKey.withPrefix(owner: walk.owner) { prefix in
            guard let start = walk.last?.key else {
                return try transaction.forEachEntry(in: walk.index, prefix: prefix, take)
            }
            try start.withUnsafeBytes {
                try transaction.forEachEntry(in: walk.index, prefix: prefix, from: $0, take)
            }
        }
        context.reports.walked.indexEntries += read
        walk.last = last
        walk.isAtEnd = !isStopped
        return read
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
