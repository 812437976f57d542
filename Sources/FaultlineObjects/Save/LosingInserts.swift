internal import FaultlineLog
internal import FaultlineStore

/// New objects of a save whose unique values other objects have, with the facts for looking at them again.
///
/// One that has lost to another new object is looked at again when that one is left out, once: so it comes to an end.
struct LosingInserts {
    struct Loser {
        let position: Int
        let conflicts: [StoreError.KeyConflict]
        /// Whether it is left out; else it is refused.
        let isLeftOut: Bool
    }

    /// Positions that are to be looked at again.
    var again: Set<Int> = []
    /// The unique keys that unsaved changes give stored objects, by the ordinal of the entity.
    var comingKeys: [Int: [UniqueKey: RecordID]] = [:]
    private var losers: [Int: Loser] = [:]
    private var positions: [Save.KeyOwner: [Int]] = [:]
    private var seenAgain: Set<Int> = []
    /// The lengths of the walk's lists before the save left anything out.
    private var before: (unsaved: Int, marked: Int)?

    var isEmpty: Bool { losers.isEmpty }

    var inOrder: [Loser] { losers.values.sorted { $0.position < $1.position } }

    mutating func add(_ loser: Loser, _ entity: EntityStorage) {
        losers[loser.position] = loser
        for conflict in loser.conflicts {
            positions[Save.KeyOwner(entity: entity.ordinal, number: conflict.holder), default: []].append(
                loser.position)
        }
    }

    /// Notes the lengths of a walk's lists before anything is left out.
    mutating func begin(_ walk: DeletionWalk) {
        if before == nil { before = (walk.unsaved.count, walk.marked.count) }
    }

    /// Forgets those that have lost to an object, but for those that were looked at again before.
    mutating func takeLosers(to owner: Save.KeyOwner) -> [Loser] {
        (positions.removeValue(forKey: owner) ?? []).compactMap { position in
            seenAgain.insert(position).inserted ? losers.removeValue(forKey: position) : nil
        }
    }

    /// Takes all that is left out out of a walk, and its marks back.
    ///
    /// - Returns: The objects that were left out.
    func takeMarksBack(_ walk: DeletionWalk) -> [ObjectHandle] {
        guard let before else { return [] }
        let left = walk.takeBack(from: before.unsaved)
        for handle in left { handle.core.pointee.remove(.deleted) }
        walk.marked.removeSubrange(before.marked...)
        return left
    }
}
