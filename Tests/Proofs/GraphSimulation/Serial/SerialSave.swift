internal import Faultline

/// Merge policies of a context: how its saves treat objects that others have changed.
enum SerialPolicy: Int, CaseIterable {
    case objectTrump, error, storeTrump, rollback, overwrite

    var mergePolicy: MergePolicy {
        switch self {
        case .objectTrump: .mergeByPropertyObjectTrump
        case .error: .error
        case .storeTrump: .mergeByPropertyStoreTrump
        case .rollback: .rollback
        case .overwrite: .overwrite
        }
    }

    /// Whether the result of a save depends on the state in which its objects were read.
    var comparesWithRead: Bool { self != .objectTrump && self != .error }
}

/// Policies for a new object whose unique name another one has.
enum SerialUniqueness: Int, CaseIterable {
    case update, ignore, error

    var policy: UniquenessPolicy {
        switch self {
        case .update: .update
        case .ignore: .ignore
        case .error: .error
        }
    }
}

/// The unsaved changes of a context at its save.
struct SerialSave {
    let policy: SerialPolicy
    private(set) var changes: [SerialState.Change] = []
    /// The state in which each changed object was read.
    private(set) var bases: [Int: Int] = [:]
    /// A state not after that in which each changed or deleted object was read.
    private(set) var reads: [Int: Int] = [:]
    private(set) var inserted: Set<Int> = []
    /// Changed objects that were refreshed: a change to a value that the store has by then is none any more.
    private(set) var refreshed: Set<Int> = []

    init(_ policy: SerialPolicy) { self.policy = policy }

    /// - Parameters:
    ///   - change: The next change.
    ///   - snapshot: The state that the context shows after it.
    ///   - moved: The state at which the context was last moved on.
    mutating func add(_ change: SerialState.Change, at snapshot: Int, movedOnAt moved: Int) {
        // An object that two contexts delete is deleted, also where one of them had changed it.
        if case .delete(let key) = change { changes.removeAll { $0.isOfValues(key) } }
        changes.append(change)
        switch change {
        case .insert(let key, _), .name(let key, _, _): inserted.insert(key)
        case .set(let key, _, _), .refer(let key, _):
            if !inserted.contains(key), bases[key] == nil { bases[key] = snapshot }
            note(key, moved)
        case .delete(let key): note(key, moved)
        }
    }

    private mutating func note(_ key: Int, _ moved: Int) {
        if !inserted.contains(key), reads[key] == nil { reads[key] = moved }
    }

    /// All objects were refreshed: from now on they count as read then.
    mutating func rebase(at snapshot: Int) {
        for key in bases.keys { bases[key] = snapshot }
        for key in reads.keys { reads[key] = snapshot }
        refreshed.formUnion(bases.keys)
    }
}

extension SerialState.Change {
    /// Whether it is a change of the values of an object.
    fileprivate func isOfValues(_ object: Int) -> Bool {
        switch self {
        case .set(let key, _, _), .refer(let key, _): key == object
        case .insert, .name, .delete: false
        }
    }
}

extension SerialState {
    /// The changes of a save as its policy alters them in a state.
    func resolved(_ save: SerialSave, at sequence: Int) -> [Change] {
        guard save.policy.comparesWithRead else { return save.changes }
        var dropped: Set<Int> = []
        var lost: [Int: Differences] = [:]
        var restored: [Change] = []
        for (key, base) in save.bases.sorted(by: { $0.key < $1.key }) {
            guard let newest = object(key, at: sequence) else {
                // Under the policy that saves the object as it is here, changing a deleted one is refused.
                if save.policy != .overwrite { dropped.insert(key) }
                continue
            }
            guard let read = object(key, at: base) else { continue }
            let differences = Differences(read, newest)
            switch save.policy {
            case .rollback: if !differences.isEmpty { dropped.insert(key) }
            case .overwrite:
                restored += differences.slots.map { .set(key, slot: $0, read.numbers[$0]) }
                if differences.isTarget, read.target == 0 || object(read.target, at: sequence) != nil {
                    restored.append(.refer(key, to: read.target))
                }
            default: lost[key] = differences
            }
        }
        let kept = save.changes.filter { change in
            switch change {
            case .set(let key, let slot, _): !dropped.contains(key) && lost[key]?.slots.contains(slot) != true
            case .refer(let key, _): !dropped.contains(key) && lost[key]?.isTarget != true
            case .insert, .name, .delete: true
            }
        }
        return restored + kept
    }

    private struct Differences {
        let slots: [Int]
        let isTarget: Bool

        init(_ one: Object, _ other: Object) {
            slots = one.numbers.indices.filter { one.numbers[$0] != other.numbers[$0] }
            isTarget = one.target != other.target
        }

        var isEmpty: Bool { slots.isEmpty && !isTarget }
    }
}
