internal import FaultlineDisk

/// The differences of to-many relationships in the order of their creation, found by their key.
///
/// A save of one object has one or two. So the first few are searched one after the other: making and freeing a table
/// of hashes takes two thousand instructions.
struct DeltaList {
    typealias Key = PendingRelationships.Key
    typealias Delta = PendingRelationships.Delta
    typealias Entry = (key: Key, delta: Delta)

    /// The number of entries that are searched without a table.
    private static let searchedCountMax = 8

    /// Dropped ones stay until most are.
    private var entries: [Entry] = []
    private var droppedCount = 0
    /// Positions by key; nil while there are few.
    private var places: [Key: Int]?

    var isEmpty: Bool { entries.count == droppedCount }

    /// The differences in the order of their creation, so that the same changes are written in the same order.
    var inOrder: [Entry] { droppedCount == 0 ? entries : entries.filter { !$0.delta.isDropped } }

    subscript(key: Key) -> Delta? { place(of: key).map { entries[$0].delta } }

    /// Adds the difference of a key that has none.
    mutating func append(_ key: Key) -> Delta {
        let delta = Delta()
        entries.append((key, delta))
        if places != nil {
            places?[key] = entries.count - 1
        } else if entries.count > Self.searchedCountMax {
            fillPlaces()
        }
        return delta
    }

    /// Removes the difference of a key, if there is one.
    mutating func drop(_ key: Key) {
        guard let place = place(of: key) else { return }
        entries[place].delta.isDropped = true
        places?[key] = nil
        droppedCount += 1
        if droppedCount == entries.count {
            removeAll()
        } else if droppedCount > 32, droppedCount > entries.count / 2 {
            removeAll { $0.delta.isDropped }
        }
    }

    /// Removes the differences that satisfy a condition.
    mutating func removeAll(where isUnwanted: (Entry) -> Bool) {
        let kept = entries.filter { !$0.delta.isDropped && !isUnwanted($0) }
        removeAll()
        entries = kept
        if entries.count > Self.searchedCountMax { fillPlaces() }
    }

    /// Removes all differences, and keeps the memory of a few.
    mutating func removeAll() {
        if entries.count <= Self.searchedCountMax { entries.popAll() } else { entries.removeAll() }
        droppedCount = 0
        places = nil
    }

    private mutating func fillPlaces() {
        var made = [Key: Int](minimumCapacity: entries.count)
        for (place, entry) in entries.enumerated() where !entry.delta.isDropped { made[entry.key] = place }
        places = made
    }

    private func place(of key: Key) -> Int? {
        if let places { return places[key] }
        return entries.firstIndex { $0.key == key && !$0.delta.isDropped }
    }
}
