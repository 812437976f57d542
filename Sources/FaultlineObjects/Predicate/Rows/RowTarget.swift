internal import FaultlineLog
internal import FaultlineStore
internal import Foundation

/// Finds the row of the object that a to-one relationship leads to.
final class RowTarget {
    private let found: RelatedRows
    private let source: RowCursor
    private let slot: Int
    private let before: Before?

    /// The relationship before, on a path of several.
    struct Before {
        let target: RowTarget
        /// Whether the path ends with nil where that leads to no object; if not, the object must be asked.
        let isOptional: Bool

        /// Moves the cursor to the object's row; false if there is none.
        func find() throws -> Bool {
            if try target.find() { return true }
            if isOptional { return false }
            throw RowCannotTell()
        }
    }

    init(_ found: RelatedRows, from source: RowCursor, _ slot: Int, after before: Before?) {
        self.found = found
        self.source = source
        self.slot = slot
        self.before = before
    }

    /// The row of the object.
    var cursor: RowCursor { found.cursor }

    /// The number of the object; nil for none.
    func number() throws -> RecordID? {
        if let before, try !before.find() { return nil }
        let number = try source.row.toOne(slot)
        return number != 0 && number <= ModelCore.numberMask ? number : nil
    }

    /// Moves the cursor to a row; false if the object is no longer in the store.
    func load(_ number: RecordID) throws -> Bool { try found.move(to: number) }

    /// Moves the cursor to the object's row; false if there is no object.
    func find() throws -> Bool {
        guard let number = try number() else { return false }
        return try load(number)
    }
}

/// A node whose value is an object, which a to-one relationship leads to.
protocol RowTargetNode {
    /// Nil if the value is another one.
    func target(in rows: RowScope) -> RowTarget?
}

extension PredicateExpressions.KeyPath: RowTargetNode {
    func target(in rows: RowScope) -> RowTarget? {
        guard let (source, before) = owner(in: rows), let slot = source.home.rowSlots[keyPath],
            case .toOne(let relationship) = source.entity.slots[slot],
            let found = rows.rows(ofDestination: relationship.destination)
        else { return nil }
        return RowTarget(found, from: source, slot, after: before)
    }

    /// The row of the object whose property is read, and the relationship that leads to it, which must not be nil; nil
    /// for a value that is no object.
    func owner(in rows: RowScope) -> (RowCursor, RowTarget.Before?)? {
        if let variable = root as? PredicateExpressions.Variable<Root.Output> {
            return rows.cursor(of: variable.key).map { ($0, nil) }
        }
        return (root as? any RowTargetNode)?.target(in: rows).map {
            ($0.cursor, RowTarget.Before(target: $0, isOptional: false))
        }
    }
}

extension PredicateExpressions.ForcedUnwrap: RowTargetNode {
    func target(in rows: RowScope) -> RowTarget? { (inner as? any RowTargetNode)?.target(in: rows) }
}

extension PredicateExpressions.OptionalFlatMap: RowTargetNode {
    func target(in rows: RowScope) -> RowTarget? {
        guard let inner = transform as? any RowTargetNode, let outer = (wrapped as? any RowTargetNode)?.target(in: rows)
        else { return nil }
        rows.bind(variable.key, to: outer.cursor)
        return inner.target(in: rows)?.following(outer)
    }
}

extension RowTarget {
    /// The same after an optional relationship, which must be followed first.
    fileprivate func following(_ outer: RowTarget) -> RowTarget {
        // A path of several begins at the row that `outer` finds.
        let first =
            before.map { Before(target: $0.target.following(outer), isOptional: $0.isOptional) }
            ?? Before(target: outer, isOptional: true)
        return RowTarget(found, from: source, slot, after: first)
    }
}
