internal import FaultlineModel

/// A filter in the form for compilation: tests joined by and/or, with negations only at the tests.
indirect enum RowTest {
    case constant(Bool)
    case test(RowInstruction, [[UInt8]])
    case all([RowTest])
    case any([RowTest])

    /// Converts a filter to this form: negations at the tests, constants folded, cheap tests first.
    static func making(_ filter: RowFilter, isNegated: Bool, _ source: RowTestSource) -> RowTest {
        switch filter {
        case .always: return .constant(!isNegated)
        case .never: return .constant(isNegated)
        case .not(let part): return making(part, isNegated: !isNegated, source)
        case .and(let parts): return joining(parts.map { making($0, isNegated: isNegated, source) }, isAll: !isNegated)
        case .or(let parts): return joining(parts.map { making($0, isNegated: isNegated, source) }, isAll: isNegated)
        case .isNil(let slot): return source.leaf(slot) { $0.isNil(slot, isNegated: isNegated) }
        case .isDangling(let slot, let targets):
            return source.leaf(slot) { $0.isDangling(slot, targets, isNegated: isNegated) }
        case .compare(let slot, let comparison, let value):
            return source.leaf(slot) { $0.compare(slot, comparison, value, isNegated: isNegated) }
        case .isMember(let slot, let values):
            return source.leaf(slot) { $0.isMember(slot, values, isNegated: isNegated) }
        case .containsText(let slot, let text):
            return source.leaf(slot) { $0.text(.textContains, slot, text, isNegated: isNegated) }
        case .beginsWith(let slot, let text):
            return source.leaf(slot) { $0.text(.textBegins, slot, text, isNegated: isNegated) }
        }
    }

    static func joining(_ parts: [RowTest], isAll: Bool) -> RowTest {
        var kept: [RowTest] = []
        for part in parts {
            switch part {
            case .constant(let value): if value != isAll { return part }
            case .all(let inner) where isAll: kept += inner
            case .any(let inner) where !isAll: kept += inner
            default: kept.append(part)
            }
        }
        if kept.isEmpty { return .constant(isAll) }
        if kept.count == 1 { return kept[0] }
        // A stable sort, so that tests of equal cost keep the query's order.
        let sorted = kept.enumerated().sorted { ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset) }
            .map(\.element)
        return isAll ? .all(sorted) : .any(sorted)
    }

    var cost: Int {
        switch self {
        case .constant: 0
        case .test(let instruction, _): instruction.cost
        case .all(let parts), .any(let parts): parts.reduce(1) { $0 + $1.cost }
        }
    }

    /// The instruction of a test that reads the fixed area only.
    var range: RowInstruction? {
        if case .test(let instruction, _) = self, instruction.isRange { return instruction }
        return nil
    }
}
