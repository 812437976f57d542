internal import Faultline
internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineTestSupport
internal import Foundation

/// One context on its thread: random operations, each recorded with the state that the context then shows.
final class SerialWorker {
    /// Objects of a page.
    static let pageSize = 20

    let shared: SerialShared
    private let thread: Int
    private let canary: SerialCanary?
    var random: Seed
    let context: ModelContext
    private(set) var events: [SerialEvent] = []
    /// Objects that the thread holds, by key.
    private var held: [Int: (kind: SerialKind, object: any SerialObject)] = [:]
    /// Keys of new objects that are not saved yet.
    private var unsaved: [Int: SerialKind] = [:]
    /// Keys of objects whose reference was changed since the last save.
    private var referred: Set<Int> = []
    /// Keys of objects that were changed since the last save, for policies where this matters.
    private var dirty: Set<Int> = []
    /// Whether the last fetch by key found an object.
    private var isFound = false
    private var lastSave = 0
    /// Keys of new objects with unique names that are not saved yet.
    private var named: [Int] = []
    private var pace = InvariantPace()
    /// Keys of objects that were changed, deleted or referred to since the last save.
    private var concerned: [PersistentIdentifier: Int] = [:]
    private let policy: SerialPolicy
    /// An object that every save changes, so that each writes data and has a number; other threads do not use it.
    private var stamp: (any SerialObject)?

    init(_ shared: SerialShared, thread: Int, seed: Seed, canary: SerialCanary?) {
        self.shared = shared
        self.thread = thread
        self.canary = canary
        random = seed
        context = ModelContext(shared.container)
        policy =
            switch thread {
            case 2, 5, 8: .error
            case 4: .storeTrump
            case 6: .rollback
            case 7: .overwrite
            default: .objectTrump
            }
        context.mergePolicy = policy.mergePolicy
    }

    /// Makes and saves the given number of objects of each class.
    ///
    /// Three of four slims are members of one hall.
    func fill(_ counts: [Int]) throws {
        for kind in [SerialKind.hall, .bench, .slim, .seat, .wide] {
            for number in 0..<counts[kind.rawValue] {
                let key = try insert(kind)
                if kind == .slim, number % 4 != 0, let hall = held.keys.min() { try refer(key, to: hall) }
                if number % 500 == 499 { try saveAndLetGo() }
            }
            try saveAndLetGo()
        }
    }

    private func saveAndLetGo() throws {
        try save()
        held = held.filter { $0.value.kind == .hall }
    }

    func run(_ count: Int) throws {
        try note(.policy, policy.rawValue)
        for _ in 0..<count {
            try step()
            // A hall may have thousands of members alive.
            if pace.isDue(objectCount: .max) { try context.core.checkInvariants() }
            // Lets threads alternate even if there are fewer processors than threads.
            if random.oneIn(4) { sched_yield() }
        }
        if random.oneIn(2) { try save() } else { try rollback() }
    }

    private func step() throws {
        switch random.below(100) {
        case 0..<25: try find(anyKind())
        case 25..<42: try set()
        case 42..<54: try refer()
        case 54..<58: try insert(anyKind())
        case 58..<60: try insertNamed()
        case 60..<63: try delete()
        case 63..<72: try read()
        case 72: try turnPages(random.pick([.bench, .named, .seat]))
        case 73: try stream(random.pick([.bench, .named, .seat]))
        case 74: try find(.named)
        case 75..<79: try readTarget()
        case 79..<83: try readMembers()
        case 83..<93: try save()
        case 93..<96: try rollback()
        case 96: try refresh()
        case 97: try reset()
        case 98: held = held.filter { unsaved[$0.key] != nil }
        default: try fetchAll(random.oneIn(4) ? anyKind() : random.pick([.bench, .named]))
        }
    }

    private func anyKind() -> SerialKind { random.pick([.slim, .slim, .hall, .seat, .seat, .bench, .wide, .wide]) }

    /// The state that the context shows.
    private func snapshot() throws -> Int {
        try context.core.beginReading()
        defer { context.core.endReading() }
        return Int(context.core.snapshot.sequence)
    }

    func note(_ kind: SerialEvent.Kind, _ numbers: Int...) throws {
        events.append(SerialEvent(kind, thread: thread, snapshot: try snapshot(), numbers))
    }

    /// Whether the canary currently breaks its rule.
    func breaks(_ rule: SerialCanary) -> Bool { canary == rule && events.count > 50 }

    // MARK: Changes

    @discardableResult
    private func insert(_ kind: SerialKind) throws -> Int {
        let key = shared.nextKey()
        let object = kind.make(key)
        func take<T: SerialObject>(_ object: T) { context.insert(object) }
        take(object)
        held[key] = (kind, object)
        unsaved[key] = kind
        concerned[object.persistentModelID] = key
        try note(.insert, key, kind.rawValue, 0)
        return key
    }

    private static let nameCount = 40

    /// Inserts an object whose name another one may have.
    ///
    /// It is not held, because another may replace it.
    private func insertNamed() throws {
        let key = shared.nextKey()
        let name = random.below(Self.nameCount)
        let chosen = SerialUniqueness.allCases[thread % SerialUniqueness.allCases.count]
        let object = Named(key, name: name)
        if random.oneIn(2) {
            context.uniquenessConflicts = chosen.policy
            context.insert(object)
        } else {
            context.insert(object, onConflict: chosen.policy)
        }
        named.append(key)
        concerned[object.persistentModelID] = key
        try note(.name, key, breaks(.names) ? name + Self.nameCount : name, chosen.rawValue)
    }

    /// Under a policy that compares with the values read, an object is read again before its first change.
    private func readsAnew(_ key: Int, _ kind: SerialKind) throws -> Bool {
        guard policy.comparesWithRead, unsaved[key] == nil, dirty.insert(key).inserted else { return true }
        try find(kind, key)
        if !isFound { held[key] = nil }
        return isFound
    }

    private func anyHeld(_ isWanted: (SerialKind) -> Bool) -> (key: Int, kind: SerialKind, object: any SerialObject)? {
        let keys = held.filter { isWanted($0.value.kind) }.keys.sorted()
        guard !keys.isEmpty else { return nil }
        let key = random.pick(keys)
        return held[key].map { (key, $0.kind, $0.object) }
    }

    private func set() throws {
        guard let (key, kind, object) = anyHeld({ $0.slotCount > 0 }), try readsAnew(key, kind) else { return }
        let slot = random.below(kind.slotCount)
        // No two numbers are equal, so that a lost one is detected.
        let number = events.count << 8 | thread
        if !breaks(.numbers) { object.set(slot, to: number) }
        concerned[object.persistentModelID] = key
        try note(.set, key, slot, number)
    }

    private func refer() throws {
        guard let (key, kind, _) = anyHeld({ $0.target != nil }), let targetKind = kind.target else { return }
        let target = random.oneIn(5) ? nil : anyHeld { $0 == targetKind }
        guard try readsAnew(key, kind) else { return }
        try refer(key, to: target?.key ?? 0)
    }

    private func refer(_ key: Int, to target: Int) throws {
        guard let object = held[key]?.object, target == 0 || held[target] != nil else { return }
        // Once for each save: it is undetermined whether a reference that is set and set back counts as changed.
        guard object.target != target, referred.insert(key).inserted else { return }
        if !breaks(.references) { object.refer(to: held[target]?.object) }
        concerned[object.persistentModelID] = key
        if let other = held[target]?.object { concerned[other.persistentModelID] = target }
        try note(.refer, key, target)
    }

    private func delete() throws {
        // Under these policies a deletion may be reverted.
        guard !policy.comparesWithRead else { return }
        // Halls are few, and their members are many.
        guard let (key, kind, object) = anyHeld({ $0 != .hall || random.oneIn(20) }) else { return }
        guard kind != .hall || shared.floor % 7 == 0 else { return }
        func remove<T: SerialObject>(_ object: T) { context.delete(object) }
        concerned[object.persistentModelID] = key
        if !breaks(.deletions) { remove(object) }
        held[key] = nil
        unsaved[key] = nil
        try note(.delete, key)
    }

    // MARK: Ends of changes

    func save() throws {
        var sequence: UInt64 = 0
        let isFirst = stamp == nil
        try changeStamp()
        let before = shared.newestSequence
        do {
            try context.core.save { transaction, _ in sequence = transaction.sequence }
        } catch let error as SwiftDataError where error == .modelValidationFailure {
            for finding in error.findings { try note(finding.object, try SerialRule(finding.rule)) }
            if error.findings.isEmpty { throw error }
            return try giveUp(isFirst, before)
        } catch let error as MergeConflictError {
            for conflict in error.conflicts { try note(conflict.object, .conflict) }
            return try giveUp(isFirst, before)
        }
        shared.noteSaved(Int(sequence))
        for (key, kind) in unsaved { shared.add(key, kind) }
        for key in named { shared.add(key, .named) }
        unsaved = [:]
        forgetChanged()
        let isBreaking = breaks(.order) && lastSave > 0
        try note(.save, isBreaking ? lastSave : Int(sequence))
        lastSave = Int(sequence)
    }

    /// Writes down a rule that a save breaks.
    private func note(_ object: PersistentIdentifier, _ rule: SerialRule) throws {
        guard let key = concerned[object] else {
            throw SerialFailure(description: "a save is refused for \(object) (\(rule)), which it does not concern")
        }
        try note(.finding, rule.rawValue, breaks(.refusals) ? key + 1 : key)
    }

    /// Rolls back after a save was refused, before which `newest` was the newest transaction.
    private func giveUp(_ isFirst: Bool, _ newest: Int) throws {
        let after = shared.newestSequence
        context.rollback()
        forgetUnsaved()
        if isFirst { stamp = nil }
        try note(.refuse, newest, after)
    }

    private func changeStamp() throws {
        if let stamp {
            let number = events.count << 8 | thread
            stamp.set(0, to: number)
            concerned[stamp.persistentModelID] = stamp.key
            return try note(.set, stamp.key, 0, number)
        }
        let object = Slim(shared.nextKey())
        context.insert(object)
        stamp = object
        concerned[object.persistentModelID] = object.key
        try note(.insert, object.key, SerialKind.slim.rawValue, 0)
    }

    private func rollback() throws {
        if !breaks(.rollbacks) { context.rollback() }
        forgetUnsaved()
        try note(.rollback)
    }

    private func forgetUnsaved() {
        held = held.filter { unsaved[$0.key] == nil }
        unsaved = [:]
        forgetChanged()
    }

    private func forgetChanged() {
        referred = []
        dirty = []
        named = []
        concerned = [:]
    }

    private func refresh() throws {
        context.refreshAllObjects()
        try note(.refresh)
    }

    private func reset() throws {
        context.reset()
        forgetUnsaved()
        try note(.reset)
    }

    // MARK: Reads

    private func find(_ kind: SerialKind, _ chosen: Int? = nil) throws {
        guard let key = chosen ?? shared.anyKey(kind, &random) else { return }
        if breaks(.stale) {
            if !context.isPinned { try? context.pin() }
        }
        let floor = shared.floor
        let found = try kind.find(key, in: context)
        if breaks(.stale) { context.unpin() }
        if held.count > 60 { held = held.filter { unsaved[$0.key] != nil || random.oneIn(2) } }
        isFound = !found.isEmpty
        if kind != .named, let object = found.first { held[key] = (kind, object) }
        try note(.find, floor, kind.rawValue, key, found.count)
    }

    func fetchAll(_ kind: SerialKind) throws {
        let floor = shared.floor
        let found = try walk(kind.type)
        var digest = 0
        for object in found {
            let numbers = (0..<kind.slotCount).map { object.read($0) }
            digest &+= SerialDigest.of(key: object.key, numbers: numbers)
        }
        try note(.all, floor, kind.rawValue, found.count, digest)
    }

    /// All objects of a class: as an array, in batches, or one after another.
    private func walk<T: SerialObject>(_ type: T.Type) throws -> [any SerialObject] {
        switch context.hasChanges ? 0 : random.below(3) {
        case 0: return try context.fetch(FetchDescriptor<T>())
        case 1: return try context.fetch(FetchDescriptor<T>(), batchSize: 100).map { $0 }
        default:
            var found: [any SerialObject] = []
            try context.enumerate(FetchDescriptor<T>(), batchSize: 50) { found.append($0) }
            return found
        }
    }

    private func read() throws {
        guard let (key, kind, object) = anyHeld({ $0.slotCount > 0 }) else { return }
        let slot = random.below(kind.slotCount)
        let number = object.read(slot)
        try note(.read, key, slot, number)
    }

    private func readTarget() throws {
        guard let (key, _, object) = anyHeld({ $0.target != nil }) else { return }
        let target = object.target
        try note(.target, key, target)
    }

    private func readMembers() throws {
        guard let (key, _, object) = anyHeld({ $0 == .bench || $0 == .hall }) else { return }
        let members = object.members
        let digest = members.reduce(0) { $0 &+ SerialDigest.of(member: $1) }
        try note(.members, key, members.count, digest)
    }
}
