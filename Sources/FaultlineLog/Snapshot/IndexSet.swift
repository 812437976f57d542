/// The states of all indexes: memtables and runs.
///
/// Entries carry sequence numbers, and every look-up states the newest that it may see; so one set serves each root
/// that is not older than the newest entry that a flush or merge has taken out of it.
// Safe because nothing in it changes after `init` but memtables, which guard themselves.
final class IndexSet: @unchecked Sendable {
    private let byID: [IndexID: IndexState]

    init(_ states: [IndexState]) {
        var byID: [IndexID: IndexState] = [:]
        for state in states { byID[state.definition.id] = state }
        self.byID = byID
    }

    static let empty = IndexSet([])

    subscript(_ id: IndexID) -> IndexState? { byID[id] }

    /// All states, by ascending index number.
    var all: [IndexState] { byID.values.sorted { $0.definition.id < $1.definition.id } }

    /// A set in which one state is another, or new.
    func replacing(_ state: IndexState) -> IndexSet {
        IndexSet(byID.values.filter { $0.definition.id != state.definition.id } + [state])
    }

    /// A set that lacks an index.
    func removing(_ index: IndexID) -> IndexSet {
        IndexSet(byID.values.filter { $0.definition.id != index })
    }
}
