/// The states of all indexes: memtables and runs.
///
/// Entries have sequence numbers, and every look-up passes the newest that it may see. So one set serves each root that
/// is not older than the newest entry removed by a flush or merge.
// Safe because nothing in it changes after `init` but memtables, which are safe for threads.
package final class IndexSet: @unchecked Sendable {
    /// The states, by ascending index number.
    ///
    /// In separate memory, so that a look-up does not copy a state, which would change reference counts.
    private let states: UnsafeMutableBufferPointer<IndexState>

    /// - Parameter states: One for each index, in any order.
    init(_ states: [IndexState]) {
        self.states = .allocate(capacity: states.count)
        _ = self.states.initialize(from: states.sorted { $0.definition.id < $1.definition.id })
    }

    deinit {
        states.deinitialize()
        states.deallocate()
    }

    static let empty = IndexSet([])

    package subscript(_ id: IndexID) -> IndexState? { find(id)?.pointee }

    /// The state of an index, valid as long as the set.
    @inline(__always)
    func find(_ id: IndexID) -> UnsafePointer<IndexState>? {
        guard let start = states.baseAddress else { return nil }
        var low = 0
        var high = states.count
        while low < high {
            let middle = (low &+ high) / 2
            if start[middle].definition.id < id { low = middle &+ 1 } else { high = middle }
        }
        guard low < states.count, start[low].definition.id == id else { return nil }
        return UnsafePointer(start + low)
    }

    /// Calls `body` with each entry of an index whose key begins with `prefix`, and is not below `first` if there is
    /// one, as `IndexState.forEachEntry` does.
    func forEachEntry(
        in index: IndexDefinition, prefix: UnsafeRawBufferPointer, from first: UnsafeRawBufferPointer? = nil,
        at sequence: UInt64, _ body: (_ key: UnsafeRawBufferPointer, _ id: RecordID) throws -> Bool
    ) throws {
        guard let state = self[index.id] else { return }
        do {
            if let first {
                try state.forEachEntry(prefix: prefix, from: first, at: sequence, body)
            } else {
                try state.forEachEntry(prefix: prefix, at: sequence, body)
            }
        } catch let error as LogError {
            throw state.noting(error)
        }
    }

    /// All states, by ascending index number.
    package var all: [IndexState] { Array(states) }

    /// A set in which one state is replaced or added.
    func replacing(_ state: IndexState) -> IndexSet {
        IndexSet(states.filter { $0.definition.id != state.definition.id } + [state])
    }

    /// A set without an index.
    func removing(_ index: IndexID) -> IndexSet {
        IndexSet(states.filter { $0.definition.id != index })
    }
}
