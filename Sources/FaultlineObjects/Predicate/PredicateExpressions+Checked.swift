internal import Foundation

// Values and variables, casts, and operations of texts and dictionaries, as parts of a checked expression.

// MARK: Values

extension PredicateExpressions.Value: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        let value = value
        return CheckedExpression(0) { _ in value }
    }
}

extension PredicateExpressions.NilLiteral: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> { CheckedExpression(0) { _ in nil } }
}

extension PredicateExpressions.Variable: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        if let rows {
            if rows.cursor(of: key) != nil || rows.members(of: key) != nil { return rows.giveUp() }
            rows.noteVariable()
        }
        return CheckedExpression(0) { [self] in try evaluate($0) }
    }
}

// MARK: Casts

extension PredicateExpressions.TypeCheck: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        let input = CheckedExpression.make(input, rows)
        return CheckedExpression(input.arithmeticCount) { try input.value($0) is Desired }
    }
}

extension PredicateExpressions.ConditionalCast: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        let input = CheckedExpression.make(input, rows)
        return CheckedExpression(input.arithmeticCount) { try input.value($0) as? Desired }
    }
}

extension PredicateExpressions.ForceCast: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        let input = CheckedExpression.make(input, rows)
        return CheckedExpression(input.arithmeticCount) {
            guard let value = try input.value($0) as? Desired else { throw PredicateError.forceCastFailure }
            return value
        }
    }
}

// MARK: Dictionaries and collections

extension PredicateExpressions.DictionaryKeySubscript: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        joined(wrapped, key, rows) { try $0.value($2)[$1.value($2)] }
    }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        let substitute = CheckedExpression.make(`default`, rows)
        let found = joined(wrapped, key, rows) { try $0.value($2)[$1.value($2)] }
        return CheckedExpression(found.arithmeticCount + substitute.arithmeticCount) {
            try found.value($0) ?? substitute.value($0)
        }
    }
}

extension PredicateExpressions.CollectionRangeSubscript: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Output> {
        joined(wrapped, range, rows) { wrapped, range, bindings in
            let (collection, places) = (try wrapped.value(bindings), try range.value(bindings))
            guard places.lowerBound >= collection.startIndex, places.upperBound <= collection.endIndex else {
                throw PredicateError.invalidInput
            }
            return collection[places]
        }
    }
}

extension PredicateExpressions.CollectionContainsCollection: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        joined(base, other, rows) { try $0.value($2).contains($1.value($2)) }
    }
}

extension PredicateExpressions.SequenceStartsWith: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        joined(base, prefix, rows) { try $0.value($2).starts(with: $1.value($2)) }
    }
}

// MARK: Texts

extension PredicateExpressions.StringContainsRegex: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        joined(subject, regex, rows) { try $0.value($2).contains($1.value($2)) }
    }
}

#if !canImport(Darwin)
extension PredicateExpressions.StringLocalizedStandardContains: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<Bool> {
        joined(root, other, rows) { try $0.value($2).localizedStandardContains($1.value($2)) }
    }
}

extension PredicateExpressions.StringLocalizedCompare: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<ComparisonResult> {
        joined(root, other, rows) { try $0.value($2).localizedCompare($1.value($2)) }
    }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: CheckableNode {
    func checked(_ rows: RowScope?) -> CheckedExpression<ComparisonResult> {
        joined(root, other, rows) { try $0.value($2).caseInsensitiveCompare($1.value($2)) }
    }
}
#endif
