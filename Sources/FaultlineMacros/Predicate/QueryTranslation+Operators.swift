internal import SwiftDiagnostics
internal import SwiftSyntax

extension QueryTranslation {
    func infix(_ infix: InfixOperatorExprSyntax) -> String {
        guard let sign = infix.operator.as(BinaryOperatorExprSyntax.self)?.operator else {
            return refuse("cannot assign. Compare with '=='.", at: infix.operator)
        }
        switch sign.text {
        case "&&", "||":
            let left = condition(infix.leftOperand)
            return joined(
                sign.text == "&&" ? "Conjunction" : "Disjunction", left, guarded { condition(infix.rightOperand) })
        case "===", "!==": return refuseIdentity(sign)
        default: break
        }
        guard let operation = Self.operations[sign.text] else {
            return refuse(
                "cannot apply the operator '\(sign.text)' to a value of the object. \(Self.remedy)", at: sign)
        }
        let left = node(infix.leftOperand)
        let right = sign.text == "??" ? guarded { node(infix.rightOperand) } : node(infix.rightOperand)
        if operation.isRange { return build(operation.name, "lower: \(left)", "upper: \(right)") }
        guard let op = operation.op else { return joined(operation.name, left, right) }
        return build(operation.name, "lhs: \(left)", "rhs: \(right)", "op: .\(op)")
    }

    func prefix(_ prefix: PrefixOperatorExprSyntax) -> String {
        switch prefix.operator.text {
        case "!": build("Negation", condition(prefix.expression))
        case "-": build("UnaryMinus", node(prefix.expression))
        default:
            refuse(
                "cannot apply the operator '\(prefix.operator.text)' to a value of the object. \(Self.remedy)",
                at: prefix.operator)
        }
    }

    private func joined(_ name: String, _ left: String, _ right: String) -> String {
        build(name, "lhs: \(left)", "rhs: \(right)")
    }

    private func refuseIdentity(_ sign: TokenSyntax) -> String {
        let equality = sign.text == "===" ? "==" : "!="
        let changed = sign.with(\.tokenKind, .binaryOperator(equality))
        let fix = FixIt.replace(message: QueryFix("Use '\(equality)'"), oldNode: sign, newNode: changed)
        return refuse("cannot compare identities. Use '\(equality)'.", at: sign, fixIts: [fix])
    }
}

extension QueryTranslation {
    /// A binary operator that has a node.
    struct Operation {
        let name: String
        var op: String?
        var isRange = false

        /// Whether it has a result for all operands: a comparison, a conjunction or a disjunction.
        var isComparison: Bool {
            ["Conjunction", "Disjunction", "Equal", "NotEqual", "Comparison"].contains(name)
        }
    }

    /// The binary operators with nodes; `&&` and `||` are among them.
    static let operations: [String: Operation] = [
        "&&": Operation(name: "Conjunction"), "||": Operation(name: "Disjunction"),
        "==": Operation(name: "Equal"), "!=": Operation(name: "NotEqual"),
        "<": Operation(name: "Comparison", op: "lessThan"),
        "<=": Operation(name: "Comparison", op: "lessThanOrEqual"),
        ">": Operation(name: "Comparison", op: "greaterThan"),
        ">=": Operation(name: "Comparison", op: "greaterThanOrEqual"),
        "+": Operation(name: "Arithmetic", op: "add"), "-": Operation(name: "Arithmetic", op: "subtract"),
        "*": Operation(name: "Arithmetic", op: "multiply"),
        "/": Operation(name: "Division"), "%": Operation(name: "Remainder"),
        "??": Operation(name: "NilCoalesce"),
        "...": Operation(name: "ClosedRange", isRange: true), "..<": Operation(name: "Range", isRange: true),
    ]
}

/// The text of a change that an editor offers.
struct QueryFix: FixItMessage {
    let message: String

    init(_ message: String) { self.message = message }

    var fixItID: MessageID { MessageID(domain: "Faultline", id: message) }
}
