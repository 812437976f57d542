/// Changes that are taken back together.
final class UndoGroup {
    private enum Entry {
        case call(target: ObjectIdentifier, () -> Void)
        case group(UndoGroup)
    }

    private var entries: [Entry] = []
    /// For a menu; that of the last nested group if it has none itself.
    var name: String {
        get { ownName.isEmpty ? nestedName : ownName }
        set { ownName = newValue }
    }
    private var ownName = ""

    private var nestedName: String {
        for case .group(let group) in entries.reversed() where !group.name.isEmpty { return group.name }
        return ""
    }

    var isEmpty: Bool { entries.isEmpty }

    func append(_ target: ObjectIdentifier, _ call: @escaping () -> Void) {
        entries.append(.call(target: target, call))
    }

    func append(_ group: UndoGroup) { entries.append(.group(group)) }

    /// Takes the last entry out, if it is a group.
    func popGroup() -> UndoGroup? {
        guard case .group(let group)? = entries.last else { return nil }
        entries.removeLast()
        return group
    }

    func remove(_ target: ObjectIdentifier) {
        entries = entries.filter {
            switch $0 {
            case .call(let other, _): return other != target
            case .group(let group):
                group.remove(target)
                return !group.isEmpty
            }
        }
    }

    /// Calls all, last first.
    func run() {
        for entry in entries.reversed() {
            switch entry {
            case .call(_, let call): call()
            case .group(let group): group.run()
            }
        }
    }
}
