internal import Faultline
internal import FaultlineObjects

/// Rules that refuse a save.
enum SerialRule: Int {
    /// A bench has more members than it may have.
    case maximum
    /// A bench is deleted that has members.
    case deny
    /// An object refers to one that is gone.
    case missing
    /// Another object has the name.
    case unique
    /// A changed object was deleted by another context.
    case deletedElsewhere
    /// A changed object was changed by another context.
    case conflict
}

extension SerialRule {
    /// - Throws: `SerialFailure` for a rule that no class here has.
    init(_ rule: ValidationFinding.Rule) throws {
        switch rule {
        case .maximumModelCount: self = .maximum
        case .deny: self = .deny
        case .missingObject: self = .missing
        case .unique: self = .unique
        case .deletedElsewhere: self = .deletedElsewhere
        default: throw SerialFailure(description: "a save is refused by the rule \(rule)")
        }
    }
}

/// A rule that a save breaks, and the object that breaks it.
struct SerialFinding: Hashable {
    let rule: SerialRule
    let key: Int

    init(_ rule: SerialRule, _ key: Int) {
        self.rule = rule
        self.key = key
    }

    init?(_ numbers: [Int]) {
        guard numbers.count == 2, let rule = SerialRule(rawValue: numbers[0]) else { return nil }
        self.init(rule, numbers[1])
    }
}

/// A save that was refused, with the rules that its error names.
///
/// The rules are decided in the writer's turn: there is one state, the newest of that moment, in which the save breaks
/// exactly these.
struct SerialRefusal {
    private let save: SerialSave
    private let findings: Set<SerialFinding>
    /// The states in which the rules may have been decided.
    private let moments: ClosedRange<Int>

    /// - Parameters:
    ///   - save: The unsaved changes.
    ///   - findings: The rules that the error names.
    ///   - published: The newest transactions before the save and after it. The writer's turn shows those too that are
    ///     written and not published yet: at most one of each other thread.
    init(_ save: SerialSave, _ findings: Set<SerialFinding>, _ published: ClosedRange<Int>) {
        self.save = save
        self.findings = findings
        moments = published.lowerBound...published.upperBound + SerialLife.threadCountMax
    }

    /// Looks for the state.
    ///
    /// - Throws: `GraphViolation` where there is none.
    func check(_ state: SerialState) throws {
        guard !findings.isEmpty else { throw GraphViolation("a save at \(moments) is refused without a finding") }
        if let first = findings.first, findings.count == 1, isRefusedAtOnce(first, in: state) { return }
        let isRight = moments.contains { moment in
            if findings.contains(where: { $0.rule == .conflict }) {
                return findings.isSubset(of: conflicts(in: state, at: moment))
            }
            let broken = BrokenRules(save, in: state, at: moment)
            return broken.certain.isSubset(of: findings) && findings.isSubset(of: broken.possible)
        }
        guard isRight else {
            let broken = BrokenRules(save, in: state, at: moments.upperBound)
            throw GraphViolation(
                "no state in \(moments) refuses a save for \(findings): at the last it is \(broken), "
                    + "\(conflicts(in: state, at: moments.upperBound))")
        }
    }

    /// Whether a change is refused when it is made: its object is gone in the state that the context shows then.
    ///
    /// The save throws the first such error alone.
    private func isRefusedAtOnce(_ finding: SerialFinding, in state: SerialState) -> Bool {
        guard finding.rule == .deletedElsewhere, let read = save.reads[finding.key] else { return false }
        return state.object(finding.key, at: read) == nil
    }

    /// The conflicts with saves of other contexts.
    private func conflicts(in state: SerialState, at moment: Int) -> Set<SerialFinding> {
        guard save.policy == .error else { return [] }
        let changed = save.reads.filter { key, read in
            read <= moment
                && (state.object(key, at: moment) == nil || state.objects(key, within: read...moment).count > 1)
        }
        return Set(changed.keys.map { SerialFinding(.conflict, $0) })
    }
}

/// The rules that a save breaks in a state.
private struct BrokenRules {
    /// Those that an error has to name.
    private(set) var certain: Set<SerialFinding> = []
    /// These, and others that it may name: of two objects with one name, either may be the one in the way.
    private(set) var possible: Set<SerialFinding> = []

    private let state: SerialState
    private let moment: Int
    private let refreshed: Set<Int>
    private var after: [Int: SerialState.Object?] = [:]
    private var named: [Int: Int] = [:]
    /// The classes of new objects, also of those that are deleted again.
    private var insertedKinds: [Int: SerialKind] = [:]

    init(_ save: SerialSave, in state: SerialState, at moment: Int) {
        self.state = state
        self.moment = moment
        refreshed = save.refreshed
        let changes = state.resolved(save, at: moment)
        for change in changes { apply(change) }
        for case .refer(let key, let target) in changes where target != 0 { checkTarget(target, of: key) }
        checkBenches()
    }

    private func object(_ key: Int) -> SerialState.Object? {
        if let object = after[key] { return object }
        return state.object(key, at: moment)
    }

    private mutating func find(_ rule: SerialRule, _ key: Int) {
        certain.insert(SerialFinding(rule, key))
        possible.insert(SerialFinding(rule, key))
    }

    private mutating func findGone(_ key: Int) {
        if refreshed.contains(key) {
            possible.insert(SerialFinding(.deletedElsewhere, key))
        } else {
            find(.deletedElsewhere, key)
        }
    }

    private mutating func apply(_ change: SerialState.Change) {
        switch change {
        case .insert(let key, let kind):
            after[key] = SerialState.Object(kind, target: 0)
            insertedKinds[key] = kind
        case .name(let key, let name, let policy): enter(key, name, SerialUniqueness(rawValue: policy))
        case .set(let key, _, _):
            if object(key) == nil { findGone(key) }
        case .refer(let key, let target):
            guard var object = object(key) else { return findGone(key) }
            object.target = target
            after[key] = object
        case .delete(let key): after[key] = .some(nil)
        }
    }

    private mutating func enter(_ key: Int, _ name: Int, _ policy: SerialUniqueness?) {
        defer { named[name] = named[name] ?? key }
        guard policy == .error else { return }
        if let other = named[name] {
            possible.formUnion([SerialFinding(.unique, key), SerialFinding(.unique, other)])
        } else if state.holder(of: name, at: moment) != nil {
            find(.unique, key)
        }
    }

    private mutating func checkTarget(_ target: Int, of key: Int) {
        guard object(key) != nil, object(target) == nil else { return }
        // A target that this save deletes refuses its own deletion, or lets go of its members.
        if after[target] == nil { find(.missing, key) } else { possible.insert(SerialFinding(.missing, key)) }
    }

    private mutating func checkBenches() {
        var gains: [Int: Int] = [:]
        for (key, object) in after {
            if let old = state.object(key, at: moment), old.kind == .seat { gains[old.target, default: 0] -= 1 }
            if let object, object.kind == .seat { gains[object.target, default: 0] += 1 }
        }
        for (key, object) in after where object == nil {
            // Delete rules hold for a new object too, and for one that another save has deleted.
            guard (state.kind(of: key, until: moment) ?? insertedKinds[key]) == .bench else { continue }
            if state.members(of: key, at: moment).count + gains[key, default: 0] > 0 { find(.deny, key) }
        }
        for (key, gain) in gains where gain > 0 {
            guard let bench = object(key), bench.kind == .bench else { continue }
            if state.members(of: key, at: moment).count + gain > bench.kind.memberMax { find(.maximum, key) }
        }
    }
}

extension BrokenRules: CustomStringConvertible {
    var description: String { "\(certain) and perhaps \(possible)" }
}
