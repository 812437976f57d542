internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

// Nodes that read properties and follow relationships, prepared for rows.

extension PredicateExpressions.KeyPath {
    /// Prepares the reading of an object's property, or of the number of its members; nil for a property of a value.
    func checkedRows(_ rows: RowScope) -> CheckedExpression<Output>? {
        if let selected = (root as? any RowMembersNode)?.members(in: rows) { return size(of: selected) }
        // The target must be there: it is required, or unwrapped.
        guard let (cursor, target) = owner(in: rows) else { return nil }
        let read: CheckedExpression<Output>? =
            if let slot = cursor.home.rowSlots[keyPath] {
                RowReading.property(Output.self, slot, cursor, rows)
            } else {
                identifier(of: cursor, rows)
            }
        guard let read else { return rows.giveUp() }
        guard let target else { return read }
        return CheckedExpression(0) {
            _ = try target.find()
            return try read.value($0)
        }
    }

    private func identifier(of cursor: RowCursor, _ rows: RowScope) -> CheckedExpression<Output>? {
        guard keyPath == (Root.Output.self as? any PersistentModel.Type)?.identifierKeyPath,
            cursor.home.type?.family == nil
        else { return nil }
        let (storeID, name) = (rows.context.store.log.storeID, cursor.entity.name)
        let identifier = CheckedExpression<PersistentIdentifier>(0) { _ in
            PersistentIdentifier(storeID: storeID, entityName: name, number: cursor.number)
        }
        return identifier as? CheckedExpression<Output>
    }

    private func size(of selected: SelectedMembers) -> CheckedExpression<Output>? {
        let made: AnyObject? =
            switch kind {
            case .collectionCount: CheckedExpression<Int>(0) { try selected.count($0) }
            case .collectionIsEmpty: CheckedExpression<Bool>(0) { try selected.isEmpty($0) }
            default: nil
            }
        return made as? CheckedExpression<Output>
    }
}

extension PredicateExpressions.OptionalFlatMap {
    /// Prepares a path through a relationship; nil for the value of an attribute.
    func checkedRows(_ rows: RowScope) -> CheckedExpression<Output>? {
        if let selected = (wrapped as? any RowMembersNode)?.members(in: rows) {
            rows.bind(variable.key, to: selected)
            let inner = CheckedExpression<RHS.Output>.make(transform, rows)
            return CheckedExpression(inner.arithmeticCount) {
                if let owner = selected.owner, try !owner.find() { return nil }
                return try inner.value($0) as? Result
            }
        }
        guard let target = (wrapped as? any RowTargetNode)?.target(in: rows) else { return nil }
        let (inner, isOfTarget) = rows.preparing(for: target.cursor) {
            rows.bind(variable.key, to: target.cursor)
            return CheckedExpression<RHS.Output>.make(transform, rows)
        }
        // Many objects lead to one.
        let known = isOfTarget ? KnownResults<Result>() : nil
        return CheckedExpression(inner.arithmeticCount) { bindings in
            guard let number = try target.number() else { return nil }
            if let result = known?.results[number] { return result }
            let result = try target.load(number) ? inner.value(bindings) as? Result : nil
            known?.note(result, number)
            return result
        }
    }
}

/// The results of a path for the objects that it led to last.
private final class KnownResults<Result> {
    private static var countMax: Int { 1_024 }
    private static var textByteCountMax: Int { 256 }

    @exclusivity(unchecked) private(set) var results: [RecordID: Result?] = [:]
    /// Whether a value takes as much memory as its type tells.
    private let isFixed = AttributeKind(valueType: Result.self).map { $0.rawValue <= AttributeKind.decimal.rawValue }

    func note(_ result: Result?, _ number: RecordID) {
        guard isFixed == true || (result as? String)?.utf8.count ?? .max <= Self.textByteCountMax else { return }
        if results.count >= Self.countMax { results.removeAll(keepingCapacity: true) }
        results[number] = .some(result)
    }
}

extension RowScope {
    /// Prepares a condition on the members of a relationship; nil for another sequence.
    func members<S: PredicateExpression, T: PredicateExpression>(
        _ sequence: S, _ variable: PredicateExpressions.Variable<S.Output.Element>, _ test: T
    ) -> (SelectedMembers, CheckedExpression<Bool>)? where S.Output: Sequence, T.Output == Bool {
        guard let selected = (sequence as? any RowMembersNode)?.members(in: self) else { return nil }
        bind(variable.key, to: selected.members.cursor)
        return (selected, CheckedExpression<Bool>.make(test, self))
    }
}

// MARK: Nil

/// A node that is nil.
private protocol NilNode {}

extension PredicateExpressions.NilLiteral: NilNode {}

extension RowScope {
    /// Prepares the test whether an object on a path is nil; nil for another comparison.
    func isNil(_ left: Any, _ right: Any) -> CheckedExpression<Bool>? {
        guard left is any NilNode || right is any NilNode,
            let node = (left is any NilNode ? right : left) as? any RowTargetNode,
            let target = node.target(in: self)
        else { return nil }
        return CheckedExpression(0) { _ in try !target.find() }
    }
}
