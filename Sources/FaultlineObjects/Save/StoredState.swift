internal import FaultlineLog
internal import FaultlineStore

/// One state of the store for rule checks: a snapshot, or the newest state in the writer's turn.
///
/// Generic functions over it are specialised; nothing is boxed.
protocol StoredState: ~Copyable {
    func location(of id: RecordID, in table: TableID) throws(LogError) -> Location

    /// The number of stored objects of a table.
    func recordCount(of table: TableID) -> Int

    /// The number of a table's next object.
    func nextID(in table: TableID) -> RecordID

    /// Calls `body` with a record, valid during the call; returns nil if the object does not exist.
    func withRecord<R>(
        _ id: RecordID, in table: TableID, _ buffer: inout RecordBuffer, _ body: (RecordView) throws -> R
    ) throws -> R?

    /// Calls `body` with each entry whose key begins with `prefix`; it returns false to stop.
    func forEachEntry(
        in index: IndexDefinition, prefix: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ id: RecordID) throws -> Bool
    ) throws
}

extension StoredState where Self: ~Copyable {
    /// Numbers of the members that a relationship index has for an owner, in their order.
    ///
    /// - Complexity: O(members).
    func memberNumbers(of owner: RecordID, in index: IndexDefinition) throws -> [RecordID] {
        var numbers: [RecordID] = []
        try MemberKey.withPrefix(owner: owner) { prefix in
            try forEachEntry(in: index, prefix: prefix) { key, id in
                if let member = MemberKey.member(key, id: id) { numbers.append(member) }
                return true
            }
        }
        return numbers
    }
}

extension Snapshot: StoredState {
    func nextID(in table: TableID) -> RecordID { nextID(of: table) }

    func withRecord<R>(
        _ id: RecordID, in table: TableID, _ buffer: inout RecordBuffer, _ body: (RecordView) throws -> R
    ) throws -> R? {
        try read(id, in: table, into: &buffer).map(body)
    }
}

/// In a transaction, locations and records include its own writes, and index entries do not.
extension Transaction: StoredState {
    func withRecord<R>(
        _ id: RecordID, in table: TableID, _ buffer: inout RecordBuffer, _ body: (RecordView) throws -> R
    ) throws -> R? {
        try record(id, in: table, body)
    }
}
