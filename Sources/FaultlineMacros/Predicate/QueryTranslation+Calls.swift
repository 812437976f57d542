internal import SwiftSyntax

/// The methods that have nodes.
enum QueryMethod: String {
    case contains, allSatisfy, filter, flatMap, min, max, starts, hasPrefix, evaluate
    case localizedStandardContains, localizedCompare, caseInsensitiveCompare
}

extension QueryTranslation {
    /// The node of a call.
    func call(_ call: FunctionCallExprSyntax) -> String {
        guard let member = call.calledExpression.as(MemberAccessExprSyntax.self), let base = member.base,
            let method = QueryMethod(rawValue: member.declName.baseName.text),
            let arguments = call.plainArguments
        else { return refuse(call) }
        let labels = arguments.map { $0.label ?? "_" }
        let values = arguments.map(\.value)
        switch (method, labels) {
        case (.contains, ["_"]) where call.trailingClosure != nil, (.contains, ["where"]):
            return test(values[0]).map { build("contains", node(base), "where: \($0)") } ?? refuse(call)
        case (.contains, ["_"]), (.localizedStandardContains, ["_"]), (.localizedCompare, ["_"]),
            (.caseInsensitiveCompare, ["_"]):
            return build(method.rawValue, node(base), node(values[0]))
        case (.allSatisfy, ["_"]), (.filter, ["_"]), (.flatMap, ["_"]):
            return test(values[0]).map { build(method.rawValue, node(base), $0) } ?? refuse(call)
        case (.min, []), (.max, []):
            return build(method.rawValue, node(base))
        case (.starts, ["with"]), (.hasPrefix, ["_"]):
            return build("starts", node(base), "with: \(node(values[0]))")
        case (.evaluate, _) where !labels.isEmpty && labels.allSatisfy { $0 == "_" }:
            // A predicate is a constant that needs no node of its own.
            let other = mentionsVariable(base) ? node(base) : base.trimmedDescription
            return build("evaluate", other, values.map(node).joined(separator: ", "))
        default:
            return refuse(call)
        }
    }

    /// The closure that builds the node of a test or a transformation; nil if the argument has no visible body.
    private func test(_ argument: ExprSyntax) -> String? {
        if let closure = argument.as(ClosureExprSyntax.self) { return builder(closure) }
        guard let path = argument.as(KeyPathExprSyntax.self), path.root == nil else { return nil }
        var names: [String] = []
        for component in path.components {
            guard case .property(let property) = component.component else { return nil }
            names.append(property.declName.trimmedDescription)
        }
        let name = uniqueName("element")
        return closure(name) { names.reduce(name) { property($1, of: $0) } }
    }

    private func refuse(_ call: FunctionCallExprSyntax) -> String {
        let labels = (call.plainArguments ?? []).map { ($0.label ?? "_") + ":" }.joined()
        guard let member = call.calledExpression.as(MemberAccessExprSyntax.self) else {
            let name = call.calledExpression.trimmedDescription
            return refuse(
                "cannot call '\(name)(\(labels))' with a value of the object. \(Self.remedy)",
                at: call.calledExpression)
        }
        let relation = member.base.map(mentionsVariable) ?? false ? "on" : "with"
        return refuse(
            "cannot call '\(member.declName.baseName.text)(\(labels))' \(relation) a value of the object. \(Self.remedy)",
            at: member.declName)
    }
}

extension FunctionCallExprSyntax {
    /// The arguments with the trailing closure behind them; nil if there are several trailing closures.
    fileprivate var plainArguments: [(label: String?, value: ExprSyntax)]? {
        guard additionalTrailingClosures.isEmpty else { return nil }
        var all = arguments.map { (label: $0.label?.text, value: $0.expression) }
        if let trailingClosure { all.append((label: nil, value: ExprSyntax(trailingClosure))) }
        return all
    }
}
