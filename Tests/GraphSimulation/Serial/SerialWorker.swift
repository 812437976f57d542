internal import Faultline
internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineTestSupport

/// One context on its thread: random operations, each written down with the state that the context then shows.
final class SerialWorker {
    private let shared: SerialShared
    private let thread: Int
    private let canary: SerialCanary?
    private var random: Seed
    private let context: ModelContext
    private(set) var events: [SerialEvent] = []
    /// Objects that the thread holds, by their keys.
    private var held: [Int: (kind: SerialKind, object: any SerialObject)] = [:]
    /// Keys of new objects that no save has taken yet.
    private var unsaved: [Int: SerialKind] = [:]
    /// Keys of objects whose reference was changed since the last save.
    private var referred: Set<Int> = []
    private var lastSave = 0
    /// An object that every save changes, so that each writes something and has a number; no other thread knows it.
    private var stamp: (any SerialObject)?

    init(_ shared: SerialShared, thread: Int, seed: Seed, canary: SerialCanary?) {
        self.shared = shared
        self.thread = thread
        self.canary = canary
        random = seed
        context = ModelContext(shared.container)
        // Refuses a save where another context has changed the same property.
        if thread % 3 == 2 { context.mergePolicy = .error }
    }

    /// Makes so many objects of each class, and saves them.
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
        for _ in 0..<count { try step() }
        if random.oneIn(2) { try save() } else { try rollback() }
    }

    private func step() throws {
        switch random.below(100) {
        case 0..<25: try find(anyKind())
        case 25..<42: try set()
        case 42..<54: try refer()
        case 54..<60: try insert(anyKind())
        case 60..<63: try delete()
        case 63..<75: try read()
        case 75..<79: try readTarget()
        case 79..<83: try readMembers()
        case 83..<93: try save()
        case 93..<96: try rollback()
        case 96: try refresh()
        case 97: try reset()
        case 98: held = held.filter { unsaved[$0.key] != nil }
        default: try fetchAll(random.oneIn(4) ? anyKind() : .bench)
        }
    }

    private func anyKind() -> SerialKind { random.pick([.slim, .slim, .hall, .seat, .seat, .bench, .wide, .wide]) }

    /// The state that the context shows.
    private func snapshot() throws -> Int {
        try context.core.beginReading()
        defer { context.core.endReading() }
        return Int(context.core.snapshot.sequence)
    }

    private func note(_ kind: SerialEvent.Kind, _ numbers: Int...) throws {
        events.append(SerialEvent(kind, thread: thread, snapshot: try snapshot(), numbers))
    }

    /// Whether the canary breaks its rule now.
    private func breaks(_ rule: SerialCanary) -> Bool { canary == rule && events.count > 50 }

    // MARK: Changes

    @discardableResult
    private func insert(_ kind: SerialKind) throws -> Int {
        let key = shared.nextKey()
        let object = kind.make(key)
        func take<T: SerialObject>(_ object: T) { context.insert(object) }
        take(object)
        held[key] = (kind, object)
        unsaved[key] = kind
        try note(.insert, key, kind.rawValue, 0)
        return key
    }

    private func anyHeld(_ isWanted: (SerialKind) -> Bool) -> (key: Int, kind: SerialKind, object: any SerialObject)? {
        let keys = held.filter { isWanted($0.value.kind) }.keys.sorted()
        guard !keys.isEmpty else { return nil }
        let key = random.pick(keys)
        return held[key].map { (key, $0.kind, $0.object) }
    }

    private func set() throws {
        guard let (key, kind, object) = anyHeld({ $0.slotCount > 0 }) else { return }
        let slot = random.below(SerialCheck.openRows.contains("A6") ? min(kind.slotCount, 60) : kind.slotCount)
        // No two are equal, so that a lost one shows.
        let number = events.count << 8 | thread
        if !breaks(.numbers) { object.set(slot, to: number) }
        try note(.set, key, slot, number)
    }

    private func refer() throws {
        guard let (key, kind, _) = anyHeld({ $0.target != nil }), let targetKind = kind.target else { return }
        let target = random.oneIn(5) ? nil : anyHeld { $0 == targetKind }
        try refer(key, to: target?.key ?? 0)
    }

    private func refer(_ key: Int, to target: Int) throws {
        guard let object = held[key]?.object, target == 0 || held[target] != nil else { return }
        // Once for each save: a reference that is set and set back may count as changed or not.
        guard object.target != target, referred.insert(key).inserted else { return }
        if !breaks(.references) { object.refer(to: held[target]?.object) }
        try note(.refer, key, target)
    }

    private func delete() throws {
        // Halls are few, and their members are many.
        guard let (key, kind, object) = anyHeld({ $0 != .hall || random.oneIn(20) }) else { return }
        guard kind != .hall || shared.floor % 7 == 0 else { return }
        func remove<T: SerialObject>(_ object: T) { context.delete(object) }
        if !breaks(.deletions) { remove(object) }
        held[key] = nil
        unsaved[key] = nil
        try note(.delete, key)
    }

    // MARK: Ends of changes

    private func save() throws {
        var sequence: UInt64 = 0
        let isFirst = stamp == nil
        try changeStamp()
        do {
            try context.core.save { transaction, _ in sequence = transaction.sequence }
        } catch let error as SwiftDataError where error == .modelValidationFailure {
            return try giveUp(isFirst)
        } catch is MergeConflictError {
            return try giveUp(isFirst)
        }
        shared.noteSaved(Int(sequence))
        for (key, kind) in unsaved { shared.add(key, kind) }
        unsaved = [:]
        referred = []
        let isBreaking = breaks(.order) && lastSave > 0
        try note(.save, isBreaking ? lastSave : Int(sequence))
        lastSave = Int(sequence)
    }

    /// Rolls back after a save was refused.
    private func giveUp(_ isFirst: Bool) throws {
        context.rollback()
        forgetUnsaved()
        if isFirst { stamp = nil }
        try note(.refuse)
    }

    private func changeStamp() throws {
        if let stamp {
            let number = events.count << 8 | thread
            stamp.set(0, to: number)
            return try note(.set, stamp.key, 0, number)
        }
        let object = Slim(shared.nextKey())
        context.insert(object)
        stamp = object
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
        referred = []
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
        if let object = found.first { held[key] = (kind, object) }
        try note(.find, floor, kind.rawValue, key, found.count)
    }

    func fetchAll(_ kind: SerialKind) throws {
        func all<T: SerialObject>(_ type: T.Type) throws -> [any SerialObject] {
            try context.fetch(FetchDescriptor<T>())
        }
        let floor = shared.floor
        let found = try all(kind.type)
        var digest = 0
        for object in found {
            let numbers = (0..<kind.slotCount).map { object.read($0) }
            digest &+= SerialDigest.of(key: object.key, numbers: numbers)
        }
        try note(.all, floor, kind.rawValue, found.count, digest)
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
