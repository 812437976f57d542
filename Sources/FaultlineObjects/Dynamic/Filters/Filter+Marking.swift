// A filter's conditions, as text that is the same in every process.

extension Filter.Condition {
    var mark: String {
        switch self {
        case .compare(let key, let comparison, let value): "\(key.debugDescription) \(comparison) \(value.mark)"
        case .isIn(let key, let values): "\(key.debugDescription) in \(values.map(\.mark))"
        case .contains(let key, let text): "\(key.debugDescription) contains \(text.debugDescription)"
        case .beginsWith(let key, let text): "\(key.debugDescription) begins \(text.debugDescription)"
        case .text(let key, let test): "\(key.debugDescription) is \(test)"
        case .members(let key, let quantifier, let condition):
            "\(quantifier) \(key.debugDescription) (\(condition.mark))"
        case .identifiers(let identifiers): "one of \(identifiers.map { "\($0)" })"
        case .closure(_, let text): text.map { "code \($0.debugDescription)" } ?? "code"
        case .all(let conditions): "all \(conditions.map { "(\($0.mark))" })"
        case .any(let conditions): "any \(conditions.map { "(\($0.mark))" })"
        case .not(let condition): "not (\(condition.mark))"
        }
    }
}

extension FilterValue {
    fileprivate var mark: String {
        switch self {
        case .row(let value): "\(value)"
        case .object(let identifier): "\(identifier)"
        case .unknown(let type): "a \(type)"
        }
    }
}
