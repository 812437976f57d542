internal import FaultlineModel

/// A query's conditions on a row, in slots of the schema in force.
///
/// A filter gives the results of Swift's operators on the decoded values, which differ from the order of keys and
/// sorts:
/// - `==` and `!=` compare optionals: nil equals nil only; every value is `!=` nil. The other comparisons, containment
///   and prefixes are false if the slot is nil.
/// - Not-a-number is unequal to everything, itself included, and every other comparison with it is false.
/// - −0 equals 0. Numbers of different kinds compare by their exact values.
/// - Text is equal by canonical equivalence, ordered by Swift's `<` on normal forms C, and searched character by
///   character.
/// - A decimal's not-a-number equals itself and is less than every number, as in Foundation.
///
/// A comparison that the slot's kind does not support (text with a number, say) is false, and its `!=` true; call
/// `mismatch(in:)` first.
package indirect enum RowFilter: Sendable, Hashable {
    case always
    case never
    case compare(slot: Int, RowComparison, RowValue)
    case isNil(slot: Int)
    /// The to-one slot refers to a deleted object.
    case isDangling(slot: Int, ReferenceTargets)
    case isMember(slot: Int, [RowValue])
    case containsText(slot: Int, String)
    case beginsWith(slot: Int, String)
    case and([RowFilter])
    case or([RowFilter])
    case not(RowFilter)

    /// The first part of the filter that rows of a layout do not support; nil if they support all.
    package func mismatch(in layout: RowLayout) -> RowFilterMismatch? {
        func check(_ slot: Int, _ isRight: (ColumnKind) -> Bool) -> RowFilterMismatch? {
            guard layout.columns.indices.contains(slot) else { return RowFilterMismatch(slot: slot, kind: nil) }
            let kind = layout.columns[slot].kind
            return isRight(kind) ? nil : RowFilterMismatch(slot: slot, kind: kind)
        }
        switch self {
        case .always, .never: return nil
        case .compare(let slot, _, let value): return check(slot) { value.isComparable(with: $0) }
        case .isNil(let slot): return check(slot) { _ in true }
        case .isDangling(let slot, _): return check(slot) { $0 == .toOne }
        case .isMember(let slot, let values):
            return check(slot) { kind in values.allSatisfy { $0.isComparable(with: kind) } }
        case .containsText(let slot, _), .beginsWith(let slot, _): return check(slot, \.isText)
        case .and(let parts), .or(let parts):
            for part in parts { if let mismatch = part.mismatch(in: layout) { return mismatch } }
            return nil
        case .not(let part): return part.mismatch(in: layout)
        }
    }

    /// The filter's sets of existing targets of references.
    package var targets: [ReferenceTargets] {
        switch self {
        case .isDangling(_, let targets): [targets]
        case .and(let parts), .or(let parts): parts.flatMap(\.targets)
        case .not(let part): part.targets
        default: []
        }
    }
}

/// A slot that does not support a part of a filter.
package struct RowFilterMismatch: Sendable, Hashable {
    package let slot: Int
    /// The slot's kind; nil if there is no such slot.
    package let kind: ColumnKind?

    package init(slot: Int, kind: ColumnKind?) {
        self.slot = slot
        self.kind = kind
    }
}

extension RowValue {
    /// Whether values of a kind can be compared with this one.
    package func isComparable(with kind: ColumnKind) -> Bool {
        let isNumber = kind.isInteger || [.attribute(.double), .attribute(.float), .attribute(.date)].contains(kind)
        return switch self {
        case .null: true
        case .bool: kind == .attribute(.bool)
        case .int, .uint: isNumber || kind == .attribute(.decimal) || kind == .toOne || kind == .link
        case .double, .float: isNumber
        case .string: kind.isText
        case .data: kind == .attribute(.data) || kind == .attribute(.codable)
        case .uuid: kind == .attribute(.uuid)
        case .decimal: kind == .attribute(.decimal)
        case .identifier: kind == .toOne || kind == .link
        }
    }
}
