/// Follows the events of one context, and compares its reads with the store's states and its unsaved changes.
struct SerialReader {
    /// An object with unsaved changes.
    private struct Pending {
        /// The object before the first change; nil for a new one.
        var base: SerialState.Object?
        /// The object as the context shows it.
        var shown: SerialState.Object
        var isDeleted = false
        var hasTarget = false
        /// Whether its state is undetermined: the context may have shown one of several states at that time.
        var isLoose = false
    }

    let state: SerialState
    private var snapshot = 0
    /// The state at which the context was last moved on; the store may have released its snapshot later.
    private var moved = 0
    private var pending: [Int: Pending] = [:]
    private(set) var readCount = 0

    init(state: SerialState) { self.state = state }

    mutating func take(_ event: SerialEvent) throws {
        guard event.snapshot >= snapshot else {
            throw GraphViolation("the context went back from \(snapshot) to \(event.snapshot)")
        }
        snapshot = event.snapshot
        if event.kind.movesContextOn { moved = snapshot }
        switch event.kind {
        case .insert, .name, .set, .refer, .delete: change(event)
        case .policy, .finding: break
        case .save:
            guard snapshot >= event.numbers[0] else {
                throw GraphViolation("the context shows \(snapshot) after its save \(event.numbers[0])")
            }
            pending = [:]
        case .refuse, .reset, .rollback: pending = [:]
        case .refresh: rebase()
        case .find, .all, .page:
            guard snapshot >= event.numbers[0] else {
                throw GraphViolation("a fetch shows \(snapshot), and the save \(event.numbers[0]) had returned")
            }
            switch event.kind {
            case .find: try find(event)
            case .all: try all(event)
            default: try page(event)
            }
        case .stream: try stream(event)
        case .read: try read(event)
        case .target: try readTarget(event)
        case .members: try readMembers(event)
        }
    }

    private func expect(_ name: String, _ found: Int, _ wanted: Int) throws {
        if found != wanted { throw GraphViolation("\(name) is \(found) instead of \(wanted) at \(snapshot)") }
    }

    // MARK: Changes

    private mutating func change(_ event: SerialEvent) {
        let key = event.numbers[0]
        if event.kind == .insert {
            guard let kind = SerialKind(rawValue: event.numbers[1]) else { return }
            pending[key] = Pending(base: nil, shown: .init(kind, target: 0), hasTarget: true)
            return
        }
        if event.kind == .name {
            var object = SerialState.Object(.named, target: 0)
            object.numbers[0] = event.numbers[1]
            pending[key] = Pending(base: nil, shown: object, hasTarget: true)
            return
        }
        var object: Pending
        if let known = pending[key] {
            object = known
        } else {
            // Changing a deleted object has no effect: the save is refused.
            guard let base = state.object(key, at: moved) else { return }
            object = Pending(base: base, shown: base, isLoose: moved != snapshot)
        }
        switch event.kind {
        case .set:
            guard object.shown.numbers.indices.contains(event.numbers[1]) else { return }
            object.shown.numbers[event.numbers[1]] = event.numbers[2]
        case .refer:
            object.shown.target = event.numbers[1]
            object.hasTarget = true
        default: object.isDeleted = true
        }
        pending[key] = object
        if object.isDeleted, object.base == nil { pending[key] = nil }
    }

    /// Applies the changes to the newest state again.
    private mutating func rebase() {
        for (key, object) in pending {
            guard let old = object.base, let newest = state.object(key, at: snapshot) else { continue }
            var shown = newest
            for slot in shown.numbers.indices where object.shown.numbers[slot] != old.numbers[slot] {
                shown.numbers[slot] = object.shown.numbers[slot]
            }
            if object.hasTarget { shown.target = object.shown.target }
            pending[key]?.base = newest
            pending[key]?.shown = shown
            // A slot that was set to its previous number may show either.
            pending[key]?.isLoose = true
        }
    }

    // MARK: Reads

    private func isGone(_ key: Int) -> Bool {
        if let object = pending[key] { return object.isDeleted }
        return state.object(key, at: snapshot) == nil
    }

    private mutating func find(_ event: SerialEvent) throws {
        let key = event.numbers[2]
        // Another context has deleted an object that this one has changed.
        if let object = pending[key], object.base != nil, state.object(key, at: snapshot) == nil { return }
        readCount += 1
        try expect("a fetch of \(key)", event.numbers[3], isGone(key) ? 0 : 1)
    }

    private mutating func all(_ event: SerialEvent) throws {
        guard let kind = SerialKind(rawValue: event.numbers[1]) else { return }
        var sum = state.total(kind, at: snapshot)
        for (key, object) in pending where object.shown.kind == kind {
            let stored = state.object(key, at: snapshot)
            guard !object.isLoose, object.base == nil || stored != nil else { return }
            if let stored { sum.remove(SerialDigest.of(key: key, numbers: stored.numbers)) }
            if !object.isDeleted { sum.add(SerialDigest.of(key: key, numbers: object.shown.numbers)) }
        }
        readCount += 1
        try expect("a count of \(kind)", event.numbers[2], sum.count)
        try expect("the digest of \(kind)", event.numbers[3], sum.digest)
    }

    /// A page has the first keys behind the one before it.
    private mutating func page(_ event: SerialEvent) throws {
        guard let kind = SerialKind(rawValue: event.numbers[1]) else { return }
        let keys = state.keys(kind, behind: event.numbers[2], at: snapshot).prefix(SerialWorker.pageSize)
        readCount += 1
        try expect("the count of a page of \(kind)", event.numbers[3], keys.count)
        let digest = keys.reduce(0) { $0 &+ SerialDigest.of(member: $1) }
        try expect("the digest of a page of \(kind)", event.numbers[4], digest)
    }

    /// A stream shows one state: the newest when its first batch was read.
    private mutating func stream(_ event: SerialEvent) throws {
        let (first, last) = (event.numbers[0], event.numbers[1])
        guard let kind = SerialKind(rawValue: event.numbers[2]), first <= last else { return }
        let found = SerialState.Sum(count: event.numbers[3], digest: event.numbers[4])
        readCount += 1
        guard (first...last).contains(where: { state.total(kind, at: $0) == found }) else {
            throw GraphViolation("a stream of \(kind) shows no state from \(first) to \(last): \(found)")
        }
    }

    private mutating func read(_ event: SerialEvent) throws {
        let (key, slot, found) = (event.numbers[0], event.numbers[1], event.numbers[2])
        func number(of object: SerialState.Object?) throws -> Int {
            guard let object, object.numbers.indices.contains(slot) else {
                throw GraphViolation("\(key) has no number \(slot)")
            }
            return object.numbers[slot]
        }
        if let object = pending[key] {
            guard !object.isLoose, !object.isDeleted else { return }
            readCount += 1
            return try expect("number \(slot) of \(key)", found, number(of: object.shown))
        }
        let objects = state.objects(key, within: moved...snapshot)
        guard !objects.isEmpty, !objects.contains(nil) else { return }
        readCount += 1
        let numbers = try objects.map(number)
        if !numbers.contains(found) {
            throw GraphViolation("number \(slot) of \(key) is \(found) instead of \(numbers) at \(snapshot)")
        }
    }

    private mutating func readTarget(_ event: SerialEvent) throws {
        let (key, found) = (event.numbers[0], event.numbers[1])
        guard moved == snapshot else { return }
        let stored = state.object(key, at: snapshot)
        if let object = pending[key] {
            guard !object.isLoose, !object.isDeleted, object.base?.target == stored?.target else { return }
            guard !isGone(object.shown.target) || object.shown.target == 0 else { return }
            readCount += 1
            return try expect("the target of \(key)", found, object.shown.target)
        }
        guard let stored else { return }
        readCount += 1
        try expect("the target of \(key)", found, stored.target == 0 || isGone(stored.target) ? 0 : stored.target)
    }

    private mutating func readMembers(_ event: SerialEvent) throws {
        let key = event.numbers[0]
        guard moved == snapshot, !isGone(key) else { return }
        var sum = state.members(of: key, at: snapshot)
        for (member, object) in pending {
            let stored = state.object(member, at: snapshot)
            guard !object.isLoose, object.base?.target == stored?.target else { return }
            if stored?.target == key { sum.remove(SerialDigest.of(member: member)) }
            if object.shown.target == key, !object.isDeleted { sum.add(SerialDigest.of(member: member)) }
        }
        readCount += 1
        try expect("the count of members of \(key)", event.numbers[1], sum.count)
        try expect("the digest of members of \(key)", event.numbers[2], sum.digest)
    }
}
