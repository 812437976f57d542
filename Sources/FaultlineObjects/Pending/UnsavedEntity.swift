internal import FaultlineLog
internal import FaultlineStore

/// The unsaved objects of one entity, as indexes in a context's lists.
struct UnsavedEntity {
    /// Indexes in the list of inserted objects, rising.
    private(set) var inserted: [Int] = []
    /// Indexes in the list of changed objects, rising.
    private(set) var changed: [Int] = []
    /// Numbers of stored objects whose deletion is not saved yet.
    private(set) var deletedNumbers: Set<RecordID> = []
    /// Numbers of changed objects with their indexes, and of objects to be deleted with -1.
    private(set) var differing: [RecordID: Int] = [:]
    private(set) var seenInserted = 0
    private(set) var seenChanged = 0
    private(set) var seenDeleted = 0
    /// By slot.
    private var columns: [Int: UnsavedColumn] = [:]

    var isEmpty: Bool { inserted.isEmpty && differing.isEmpty }

    /// Adds the objects that came since the last call.
    ///
    /// - Returns: The number of visited objects.
    mutating func update(_ home: ObjectHome, _ lists: UnsavedLookup.Lists) -> Int {
        let wanted = Unmanaged.passUnretained(home).toOpaque()
        let seen = seenInserted + seenChanged + seenDeleted
        while seenInserted < lists.inserted.count {
            if lists.inserted[seenInserted].core.pointee.home.toOpaque() == wanted { inserted.append(seenInserted) }
            seenInserted += 1
        }
        while seenChanged < lists.changed.count {
            let core = lists.changed[seenChanged].core
            if core.pointee.home.toOpaque() == wanted {
                changed.append(seenChanged)
                differing[core.pointee.number] = seenChanged
            }
            seenChanged += 1
        }
        while seenDeleted < lists.deleted.count {
            let core = lists.deleted[seenDeleted].core
            if core.pointee.home.toOpaque() == wanted {
                deletedNumbers.insert(core.pointee.number)
                if differing[core.pointee.number] == nil { differing[core.pointee.number] = -1 }
            }
            seenDeleted += 1
        }
        return seenInserted + seenChanged + seenDeleted - seen
    }

    /// The objects that may have a value in a slot: changed ones, then inserted ones, in the order of the lists.
    mutating func objects(
        _ lists: UnsavedLookup.Lists, slot: Int, key: UnsafeRawBufferPointer, _ examinedCount: inout Int
    ) -> [ObjectHandle] {
        var column = columns.removeValue(forKey: slot) ?? UnsavedColumn(slot: slot)
        if column.isWorn(objectCount: inserted.count + changed.count) { column = UnsavedColumn(slot: slot) }
        examinedCount += column.update(changed: changed, inserted: inserted, lists)
        let ranks = column.ranks(key)
        columns[slot] = column
        examinedCount += ranks.count
        return ranks.map { UnsavedColumn.object($0, lists) }
    }

    /// Enters an object again in each column, at the next lookup, because its values are about to change.
    ///
    /// - Parameters:
    ///   - reference: The object.
    ///   - place: Its index in the list of inserted objects; nil for a stored one.
    mutating func noteChange(of reference: ObjectReference, insertedAt place: Int?) {
        let rank = place.map { UnsavedColumn.insertedRank + $0 } ?? differing[reference.number]
        guard let rank, rank >= 0 else { return }
        for slot in columns.keys { columns[slot]?.outdated.append(rank) }
    }
}

/// The unsaved objects of one entity by the value of one attribute.
///
/// An entry stays after its value has changed: a fetch checks the value of each object that it finds again.
struct UnsavedColumn {
    private let slot: Int
    /// The last entry of each hash.
    private var last: [Int: Int] = [:]
    private var entries: [Entry] = []
    /// Objects whose value is large, outside the row.
    private var unknown: [Int] = []
    private var seenChanged = 0
    private var seenInserted = 0
    /// Objects that have changed since they were entered.
    var outdated: [Int] = []
    private let hasher = KeyHasher()

    private struct Entry {
        let rank: Int
        /// The previous entry with the same hash; -1 for none.
        let previous: Int
    }

    /// Added to indexes of inserted objects, which come after changed ones.
    static let insertedRank = 1 << 40

    init(slot: Int) { self.slot = slot }

    static func object(_ rank: Int, _ lists: UnsavedLookup.Lists) -> ObjectHandle {
        rank >= insertedRank ? lists.inserted[rank - insertedRank] : lists.changed[rank]
    }

    /// Whether most entries belong to values that have changed.
    func isWorn(objectCount: Int) -> Bool { entries.count > 64 + 2 * objectCount }

    /// Adds the objects that came or changed since the last call.
    ///
    /// - Returns: The number of visited objects.
    mutating func update(changed: [Int], inserted: [Int], _ lists: UnsavedLookup.Lists) -> Int {
        let count = changed.count - seenChanged + inserted.count - seenInserted + outdated.count
        guard count > 0 else { return 0 }
        for rank in outdated { enter(rank, lists) }
        outdated.removeAll(keepingCapacity: true)
        while seenChanged < changed.count {
            enter(changed[seenChanged], lists)
            seenChanged += 1
        }
        while seenInserted < inserted.count {
            enter(Self.insertedRank + inserted[seenInserted], lists)
            seenInserted += 1
        }
        return count
    }

    private mutating func enter(_ rank: Int, _ lists: UnsavedLookup.Lists) {
        let core = Self.object(rank, lists).core
        core.pointee.insert(.indexed)
        guard let draft = core.pointee.draft, let hash = hasher.hash(of: draft, slot) else {
            unknown.append(rank)
            return
        }
        entries.append(Entry(rank: rank, previous: last[hash] ?? -1))
        last[hash] = entries.count - 1
    }

    /// The ranks of the objects that may have the value of a key, rising.
    func ranks(_ key: UnsafeRawBufferPointer) -> [Int] {
        var ranks = unknown
        var entry = last[KeyHasher.hash(of: key)] ?? -1
        while entry >= 0 {
            ranks.append(entries[entry].rank)
            entry = entries[entry].previous
        }
        guard ranks.count > 1 else { return ranks }
        ranks.sort()
        var place = 0
        return ranks.filter { rank in
            defer { place += 1 }
            return place == 0 || ranks[place - 1] != rank
        }
    }
}

/// Hashes values by their index keys, which are equal exactly if the values are.
final class KeyHasher {
    @exclusivity(unchecked) private var writer = KeyWriter()

    /// The hash of a draft's value; nil if the value is large, outside the row.
    func hash(of draft: Draft, _ slot: Int) -> Int? {
        writer.removeAll()
        guard writer.append(draft: draft, slot: slot) else { return nil }
        return writer.withBytes { Self.hash(of: $0) }
    }

    static func hash(of key: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: key)
        return hasher.finalize()
    }
}
