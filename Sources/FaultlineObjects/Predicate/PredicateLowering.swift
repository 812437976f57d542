public import Foundation
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// A node whose value is true or false.
protocol LowerableCondition {
    func lowered(in scope: LoweringScope) -> LoweredFilter
}

/// A node with a value: a slot, the object's own identifier, or a constant.
protocol LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand?
}

enum LoweredOperand {
    case slot(Int)
    case ownIdentifier
    case targetIdentifier(slot: Int)
    case constant(RowValue)
    case constants([RowValue])
}

enum PredicateLowering {
    /// Lowers a predicate over one model.
    static func lower<T: PersistentModel>(
        _ predicate: Predicate<T>, _ scope: (PredicateExpressions.VariableID) -> LoweringScope
    ) -> LoweredFilter {
        condition(predicate.expression, in: scope(predicate.variable.key))
    }

    static func condition(_ expression: Any, in scope: LoweringScope) -> LoweredFilter {
        (expression as? any LowerableCondition)?.lowered(in: scope) ?? .unknown
    }

    static func operand(_ expression: Any, in scope: LoweringScope) -> LoweredOperand? {
        (expression as? any LowerableOperand)?.operand(in: scope)
    }

    /// As `constant(_:)`, without a cast for the most frequent types.
    static func constant<V>(of value: V) -> RowValue? {
        // Safe because the types are the same.
        if V.self == String.self { return .string(unsafeBitCast(value, to: String.self)) }
        // Safe because the types are the same.
        if V.self == Int.self { return .int(Int64(unsafeBitCast(value, to: Int.self))) }
        let constant = constant(value as Any)
        if case .null? = constant { return nil }
        return constant
    }

    /// A constant in the form that rows are compared with; nil if it has none.
    static func constant(_ value: Any) -> RowValue? {
        switch value {
        case let value as String: .string(value)
        case let value as Bool: .bool(value)
        case let value as Int: .int(Int64(value))
        case let value as Double: .double(value)
        case let value as Float: .float(value)
        case let value as Date: .double(value.timeIntervalSinceReferenceDate)
        case let value as UUID: .uuid(value.storedWords.0, value.storedWords.1)
        case let value as URL: .string(value.absoluteString)
        case let value as Data: .data([UInt8](value))
        case let value as Decimal: .decimal(value.stored)
        case let value as any FixedWidthInteger: integer(value)
        case let value as any RawRepresentable: rawConstant(value)
        case let value as any OptionalNil: value.isNilValue ? .null : optionalConstant(value)
        default: nil
        }
    }

    private static func integer(_ value: any FixedWidthInteger) -> RowValue? {
        func open<I: FixedWidthInteger>(_ value: I) -> RowValue? {
            if let small = Int64(exactly: value) { return .int(small) }
            return UInt64(exactly: value).map { .uint($0) }
        }
        return open(value)
    }

    private static func rawConstant(_ value: any RawRepresentable) -> RowValue? {
        func open<R: RawRepresentable>(_ value: R) -> RowValue? { constant(value.rawValue) }
        return open(value)
    }

    private static func optionalConstant(_ value: any OptionalNil) -> RowValue? {
        guard let wrapped = Mirror(reflecting: value).children.first?.value else { return .null }
        return constant(wrapped)
    }

    /// A comparison of two operands; unknown if rows cannot answer it.
    static func comparison(
        _ left: LoweredOperand?, _ comparison: RowComparison, _ right: LoweredOperand?, in scope: LoweringScope
    ) -> LoweredFilter {
        switch (left, right) {
        case (.slot(let slot), .constant(let value)):
            return compare(slot, comparison, value, in: scope)
        case (.constant(let value), .slot(let slot)):
            return compare(slot, comparison.mirrored, value, in: scope)
        case (.targetIdentifier(let slot), .constant(.identifier(let number))),
            (.constant(.identifier(let number)), .targetIdentifier(let slot)):
            guard comparison == .equal || comparison == .notEqual else { return .unknown }
            if let targets = scope.targets(slot), targets.isGone(number) {
                return LoweredFilter(filter: comparison == .equal ? .never : .always, isExact: true)
            }
            return LoweredFilter(filter: .compare(slot: slot, comparison, .identifier(number)), isExact: true)
        case (.targetIdentifier(let slot), .constant(.null)):
            return compare(slot, comparison, .null, in: scope)
        default:
            return .unknown
        }
    }

    private static func compare(
        _ slot: Int, _ comparison: RowComparison, _ value: RowValue, in scope: LoweringScope
    ) -> LoweredFilter {
        if case .null = value {
            var isNil = RowFilter.isNil(slot: slot)
            if scope.kind(slot) == .toOne, let targets = scope.targets(slot) {
                isNil = .or([isNil, .isDangling(slot: slot, targets)])
            }
            switch comparison {
            case .equal: return LoweredFilter(filter: isNil, isExact: true)
            case .notEqual: return LoweredFilter(filter: .not(isNil), isExact: true)
            default: return .unknown
            }
        }
        guard value.isComparable(with: scope.kind(slot)) else { return .unknown }
        return LoweredFilter(filter: .compare(slot: slot, comparison, value), isExact: true)
    }
}

extension RowComparison {
    /// The comparison with its sides exchanged.
    var mirrored: RowComparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}

// MARK: Conditions

extension PredicateExpressions.Conjunction: LowerableCondition {
    func lowered(in scope: LoweringScope) -> LoweredFilter {
        PredicateLowering.condition(lhs, in: scope).and(PredicateLowering.condition(rhs, in: scope))
    }
}

extension PredicateExpressions.Disjunction: LowerableCondition {
    func lowered(in scope: LoweringScope) -> LoweredFilter {
        PredicateLowering.condition(lhs, in: scope).or(PredicateLowering.condition(rhs, in: scope))
    }
}

extension PredicateExpressions.Negation: LowerableCondition {
    func lowered(in scope: LoweringScope) -> LoweredFilter {
        PredicateLowering.condition(wrapped, in: scope).negated
    }
}

extension PredicateExpressions.Equal: LowerableCondition {
    func lowered(in scope: LoweringScope) -> LoweredFilter {
        let left = PredicateLowering.operand(lhs, in: scope)
        let right = PredicateLowering.operand(rhs, in: scope)
        switch (left, right) {
        case (.ownIdentifier?, .constant(.identifier(let number))?),
            (.constant(.identifier(let number))?, .ownIdentifier?):
            return LoweredFilter(filter: .always, isExact: true, candidates: [number])
        default: break
        }
        return PredicateLowering.comparison(left, .equal, right, in: scope)
    }
}

extension PredicateExpressions.NotEqual: LowerableCondition {
    func lowered(in scope: LoweringScope) -> LoweredFilter {
        PredicateLowering.comparison(
            PredicateLowering.operand(lhs, in: scope), .notEqual, PredicateLowering.operand(rhs, in: scope), in: scope)
    }
}

extension PredicateExpressions.Comparison: LowerableCondition {
    func lowered(in scope: LoweringScope) -> LoweredFilter {
        // An enum's own order may differ from that of its raw values.
        if LHS.Output.self is any RawRepresentable.Type { return .unknown }
        let comparison: RowComparison
        switch op {
        case .lessThan: comparison = .less
        case .lessThanOrEqual: comparison = .lessOrEqual
        case .greaterThan: comparison = .greater
        case .greaterThanOrEqual: comparison = .greaterOrEqual
        @unknown default: return .unknown
        }
        return PredicateLowering.comparison(
            PredicateLowering.operand(lhs, in: scope), comparison, PredicateLowering.operand(rhs, in: scope), in: scope)
    }
}

extension PredicateExpressions.SequenceContains: LowerableCondition {
    func lowered(in scope: LoweringScope) -> LoweredFilter {
        guard case .constants(let values)? = PredicateLowering.operand(sequence, in: scope) else { return .unknown }
        switch PredicateLowering.operand(element, in: scope) {
        case .slot(let slot)?:
            guard values.allSatisfy({ $0.isComparable(with: scope.kind(slot)) }) else { return .unknown }
            return LoweredFilter(filter: .isMember(slot: slot, values), isExact: true)
        case .targetIdentifier(let slot)?:
            let targets = scope.targets(slot)
            let present = values.filter { value in
                if case .identifier(let number) = value { targets?.isGone(number) != true } else { true }
            }
            return LoweredFilter(filter: .isMember(slot: slot, present), isExact: true)
        case .ownIdentifier?:
            let numbers = values.compactMap { if case .identifier(let number) = $0 { number } else { nil } }
            return LoweredFilter(filter: .always, isExact: true, candidates: Set(numbers))
        default:
            return .unknown
        }
    }
}

extension PredicateExpressions.CollectionContainsCollection: LowerableCondition {
    func lowered(in scope: LoweringScope) -> LoweredFilter {
        guard case .slot(let slot)? = PredicateLowering.operand(base, in: scope),
            scope.kind(slot) == .attribute(.string),
            case .constant(.string(let text))? = PredicateLowering.operand(other, in: scope)
        else { return .unknown }
        return LoweredFilter(filter: .containsText(slot: slot, text), isExact: true)
    }
}

extension PredicateExpressions.SequenceStartsWith: LowerableCondition {
    func lowered(in scope: LoweringScope) -> LoweredFilter {
        guard case .slot(let slot)? = PredicateLowering.operand(base, in: scope),
            scope.kind(slot) == .attribute(.string),
            case .constant(.string(let text))? = PredicateLowering.operand(prefix, in: scope)
        else { return .unknown }
        return LoweredFilter(filter: .beginsWith(slot: slot, text), isExact: true)
    }
}

extension PredicateExpressions.RangeExpressionContains: LowerableCondition {
    func lowered(in scope: LoweringScope) -> LoweredFilter {
        guard let bounds = (range as? any LowerableRange)?.bounds(in: scope) else { return .unknown }
        let subject = PredicateLowering.operand(element, in: scope)
        let lower = PredicateLowering.comparison(subject, .greaterOrEqual, .constant(bounds.lower), in: scope)
        let upper = PredicateLowering.comparison(
            subject, bounds.isClosed ? .lessOrEqual : .less, .constant(bounds.upper), in: scope)
        guard lower.isExact, upper.isExact else { return .unknown }
        return LoweredFilter(filter: .and([lower.filter, upper.filter]), isExact: true)
    }
}

/// A range node with constant bounds.
protocol LowerableRange {
    func bounds(in scope: LoweringScope) -> (lower: RowValue, upper: RowValue, isClosed: Bool)?
}

extension PredicateExpressions.Range: LowerableRange {
    func bounds(in scope: LoweringScope) -> (lower: RowValue, upper: RowValue, isClosed: Bool)? {
        guard case .constant(let low)? = PredicateLowering.operand(lower, in: scope),
            case .constant(let high)? = PredicateLowering.operand(upper, in: scope)
        else { return nil }
        return (low, high, false)
    }
}

extension PredicateExpressions.ClosedRange: LowerableRange {
    func bounds(in scope: LoweringScope) -> (lower: RowValue, upper: RowValue, isClosed: Bool)? {
        guard case .constant(let low)? = PredicateLowering.operand(lower, in: scope),
            case .constant(let high)? = PredicateLowering.operand(upper, in: scope)
        else { return nil }
        return (low, high, true)
    }
}

extension PredicateExpressions.TypeCheck: LowerableCondition {
    func lowered(in scope: LoweringScope) -> LoweredFilter {
        guard let variable = input as? PredicateExpressions.Variable<Input.Output>, variable.key == scope.variable,
            let filter = scope.isOfClass(Desired.self)
        else { return .unknown }
        return LoweredFilter(filter: filter, isExact: true)
    }
}

// MARK: Operands

extension PredicateExpressions.KeyPath: LowerableOperand, LowerableCondition {
    func operand(in scope: LoweringScope) -> LoweredOperand? {
        if let variable = root as? PredicateExpressions.Variable<Root.Output> {
            guard variable.key == scope.variable else { return nil }
            if let slot = scope.slots[keyPath] { return .slot(slot) }
            return keyPath == (Root.Output.self as? any PersistentModel.Type)?.identifierKeyPath ? .ownIdentifier : nil
        }
        // `$0.status.rawValue` is the slot itself: it holds the raw value.
        if case .slot(let slot)? = PredicateLowering.operand(root, in: scope),
            (Root.Output.self as? any RawRepresentable.Type)?.rawValueKeyPath == keyPath
        {
            return .slot(slot)
        }
        return nil
    }

    func lowered(in scope: LoweringScope) -> LoweredFilter {
        guard Output.self == Bool.self, case .slot(let slot)? = operand(in: scope),
            scope.kind(slot) == .attribute(.bool)
        else { return .unknown }
        return LoweredFilter(filter: .compare(slot: slot, .equal, .bool(true)), isExact: true)
    }
}

extension PersistentModel {
    static var identifierKeyPath: AnyKeyPath { \Self.persistentModelID }
}

extension RawRepresentable {
    fileprivate static var rawValueKeyPath: AnyKeyPath { \Self.rawValue }
}

extension PredicateExpressions.Value: LowerableOperand, LowerableCondition {
    func operand(in scope: LoweringScope) -> LoweredOperand? {
        if let identifier = value as? PersistentIdentifier {
            return .constant(.identifier(scope.number(identifier) ?? .max))
        }
        if let constant = PredicateLowering.constant(value) { return .constant(constant) }
        if let identifiers = value as? any Sequence<PersistentIdentifier> {
            return .constants(identifiers.compactMap(scope.number).map { .identifier($0) })
        }
        guard let sequence = value as? any Sequence else { return nil }
        func open<S: Sequence>(_ sequence: S) -> [RowValue]? {
            var values: [RowValue] = []
            for element in sequence {
                guard let constant = PredicateLowering.constant(element) else { return nil }
                values.append(constant)
            }
            return values
        }
        return open(sequence).map { .constants($0) }
    }

    func lowered(in scope: LoweringScope) -> LoweredFilter {
        guard let value = value as? Bool else { return .unknown }
        return LoweredFilter(filter: value ? .always : .never, isExact: true)
    }
}

extension PredicateExpressions.NilLiteral: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? { .constant(.null) }
}

extension PredicateExpressions.OptionalFlatMap: LowerableOperand {
    func operand(in scope: LoweringScope) -> LoweredOperand? {
        // `$0.department?.persistentModelID`: the reference in the slot.
        guard case .slot(let slot)? = PredicateLowering.operand(wrapped, in: scope), scope.kind(slot) == .toOne,
            let inner = transform as? any IdentifierOfVariable, inner.isIdentifier(of: variable.key)
        else { return nil }
        return .targetIdentifier(slot: slot)
    }
}

/// A node that reads a variable's identifier.
private protocol IdentifierOfVariable {
    func isIdentifier(of variable: PredicateExpressions.VariableID) -> Bool
}

extension PredicateExpressions.KeyPath: IdentifierOfVariable {
    func isIdentifier(of variable: PredicateExpressions.VariableID) -> Bool {
        guard let root = root as? PredicateExpressions.Variable<Root.Output>, root.key == variable else { return false }
        return keyPath == (Root.Output.self as? any PersistentModel.Type)?.identifierKeyPath
    }
}
