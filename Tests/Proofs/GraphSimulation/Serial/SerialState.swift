/// All states that a store went through, one per transaction, derived from the saves in the order of their numbers.
struct SerialState {
    struct Object: Equatable {
        let kind: SerialKind
        var numbers: [Int]
        var target: Int

        init(_ kind: SerialKind, target: Int) {
            self.kind = kind
            self.target = target
            numbers = [Int](repeating: 0, count: kind.slotCount)
        }
    }

    /// A number of objects and a digest of them.
    struct Sum: Equatable {
        var count = 0
        var digest = 0

        mutating func add(_ other: Int) {
            count += 1
            digest &+= other
        }

        mutating func remove(_ other: Int) {
            count -= 1
            digest &-= other
        }
    }

    /// The values of an item, each valid from a transaction on.
    struct Versions<Value> {
        private var versions: [(sequence: Int, value: Value)] = []

        var newest: Value? { versions.last?.value }

        mutating func append(_ value: Value, at sequence: Int) {
            if versions.last?.sequence == sequence { versions.removeLast() }
            versions.append((sequence, value))
        }

        /// The value in a state; nil before the first one.
        func at(_ sequence: Int) -> Value? {
            var (low, high) = (0, versions.count)
            while low < high {
                let middle = (low + high) / 2
                if versions[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
            }
            return low > 0 ? versions[low - 1].value : nil
        }

        /// The values in a range of states, the oldest first.
        func within(_ range: ClosedRange<Int>) -> [Value] {
            (at(range.lowerBound).map { [$0] } ?? [])
                + versions.filter { $0.sequence > range.lowerBound && $0.sequence <= range.upperBound }.map(\.value)
        }
    }

    /// An object in each state; nil if it was deleted.
    private var objects: [Int: Versions<Object?>] = [:]
    private var totals = [Versions<Sum>](repeating: Versions(), count: SerialKind.allCases.count)
    private var sums: [Int: Versions<Sum>] = [:]
    private var members: [Int: Set<Int>] = [:]
    /// The object that has each unique name.
    private var holders: [Int: Versions<Int>] = [:]
    private var sequence = 0
    private let isBoundBroken: Bool

    init(isBoundBroken: Bool) { self.isBoundBroken = isBoundBroken }

    func object(_ key: Int, at sequence: Int) -> Object? { objects[key]?.at(sequence) ?? nil }

    /// The class of an object that is stored in a state, or was before.
    func kind(of key: Int, until sequence: Int) -> SerialKind? {
        objects[key]?.within(0...sequence).last { $0 != nil }??.kind
    }

    func objects(_ key: Int, within range: ClosedRange<Int>) -> [Object?] { objects[key]?.within(range) ?? [] }

    func holder(of name: Int, at sequence: Int) -> Int? { holders[name]?.at(sequence) }

    /// The keys of a class behind one, in their order.
    func keys(_ kind: SerialKind, behind key: Int, at sequence: Int) -> [Int] {
        objects.filter { $0.key > key && ($0.value.at(sequence) ?? nil)?.kind == kind }.map(\.key).sorted()
    }

    func total(_ kind: SerialKind, at sequence: Int) -> Sum { totals[kind.rawValue].at(sequence) ?? Sum() }

    func members(of key: Int, at sequence: Int) -> Sum { sums[key]?.at(sequence) ?? Sum() }

    // MARK: Saves

    /// One change of a save.
    enum Change {
        case insert(Int, SerialKind)
        case name(Int, Int, policy: Int)
        case set(Int, slot: Int, Int)
        case refer(Int, to: Int)
        case delete(Int)
    }

    /// Applies the changes of a save to the newest state, and checks all rules there.
    ///
    /// - Parameters:
    ///   - save: The changes, with the policy of the context.
    ///   - sequence: The number of the transaction.
    /// - Throws: `GraphViolation` if a rule is violated.
    mutating func save(_ save: SerialSave, at sequence: Int) throws {
        guard sequence > self.sequence else {
            throw GraphViolation("two saves have the number \(sequence)")
        }
        self.sequence = sequence
        var made: [Int: Object?] = [:]
        for change in resolved(save, at: .max) { try apply(change, &made) }
        for (key, object) in made where object == nil { clearReferences(to: key, &made) }
        for (key, object) in made.sorted(by: { $0.key < $1.key }) { put(key, object) }
        try checkRules(made)
    }

    /// An object after the newest save; nil if it was deleted.
    func newest(_ key: Int) -> Object? { objects[key]?.newest ?? nil }

    private func newest(_ key: Int, _ made: [Int: Object?]) -> Object? {
        if let object = made[key] { return object }
        return newest(key)
    }

    private mutating func apply(_ change: Change, _ made: inout [Int: Object?]) throws {
        func edit(_ key: Int, _ body: (inout Object) -> Void) throws {
            guard var object = newest(key, made) else {
                throw GraphViolation("save \(sequence) changes the object \(key), which is gone")
            }
            body(&object)
            made[key] = object
        }
        switch change {
        case .insert(let key, let kind): made[key] = Object(kind, target: 0)
        case .name(let key, let name, let policy): try enter(key, name, policy, &made)
        case .set(let key, let slot, let number):
            try edit(key) { if $0.numbers.indices.contains(slot) { $0.numbers[slot] = number } }
        case .refer(let key, let target): try edit(key) { $0.target = target }
        // An object that another save has deleted is deleted twice.
        case .delete(let key): made[key] = .some(nil)
        }
    }

    /// The rule of unique names: a new object with a used name replaces the other one, or is left out.
    private mutating func enter(_ key: Int, _ name: Int, _ policy: Int, _ made: inout [Int: Object?]) throws {
        if let holder = holder(of: name, at: .max) {
            switch SerialUniqueness(rawValue: policy) {
            case .update?: made[holder] = .some(nil)
            case .ignore?: return
            case .error?, nil: throw GraphViolation("save \(sequence): \(key) and \(holder) have the name \(name)")
            }
        }
        holders[name, default: Versions()].append(key, at: sequence)
        var object = Object(.named, target: 0)
        object.numbers[0] = name
        made[key] = object
    }

    /// The rule of halls: their members stay without a hall.
    private func clearReferences(to key: Int, _ made: inout [Int: Object?]) {
        if let old = objects[key]?.newest ?? nil, old.kind != .hall { return }
        for member in (members[key] ?? []).union(made.keys) {
            guard var object = newest(member, made), object.target == key else { continue }
            object.target = 0
            made[member] = object
        }
    }

    private mutating func put(_ key: Int, _ object: Object?) {
        let old = objects[key]?.newest ?? nil
        if let old { count(key, old, isThere: false) }
        if let object { count(key, object, isThere: true) }
        objects[key, default: Versions()].append(object, at: sequence)
    }

    private mutating func count(_ key: Int, _ object: Object, isThere: Bool) {
        var total = totals[object.kind.rawValue].newest ?? Sum()
        let digest = SerialDigest.of(key: key, numbers: object.numbers)
        if isThere { total.add(digest) } else { total.remove(digest) }
        totals[object.kind.rawValue].append(total, at: sequence)
        guard object.target != 0 else { return }
        var sum = sums[object.target]?.newest ?? Sum()
        if isThere {
            sum.add(SerialDigest.of(member: key))
            members[object.target, default: []].insert(key)
        } else {
            sum.remove(SerialDigest.of(member: key))
            members[object.target]?.remove(key)
        }
        sums[object.target, default: Versions()].append(sum, at: sequence)
    }

    private func checkRules(_ made: [Int: Object?]) throws {
        for (key, object) in made {
            guard let object else {
                guard members[key]?.isEmpty ?? true else {
                    throw GraphViolation("save \(sequence) deletes \(key), which has members")
                }
                continue
            }
            guard object.target != 0 else { continue }
            guard let target = newest(object.target, made) else {
                throw GraphViolation("save \(sequence): \(key) refers to \(object.target), which is gone")
            }
            let bound = isBoundBroken ? 2 : target.kind.memberMax
            guard target.kind != .bench || members[object.target]?.count ?? 0 <= bound else {
                throw GraphViolation("save \(sequence): \(object.target) has more than \(bound) members")
            }
        }
    }
}
