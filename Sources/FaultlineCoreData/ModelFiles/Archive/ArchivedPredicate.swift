/// Writes archived predicates and expressions in the format of predicates.
///
///     ArchivedPredicate.text(of: request["NSPredicate"])  // rating > 3 AND author.name == "Ann"
///
/// A part that has no form there stands as the name of its class in angle brackets.
enum ArchivedPredicate {
    private static let depthMax = 64

    /// A predicate; nil for none.
    static func text(of predicate: ArchivedObject?) -> String? { predicate.map { text(of: $0, depth: 0) } }

    /// An expression; nil for none.
    static func expression(_ expression: ArchivedObject?) -> String? {
        expression.map { self.expression($0, depth: 0) }
    }

    private static func text(of predicate: ArchivedObject, depth: Int) -> String {
        guard depth < depthMax else { return "<too deep>" }
        if predicate.isKind(of: "NSCompoundPredicate") {
            let parts = (predicate["NSSubpredicates"]?.list ?? []).map { part in
                let text = text(of: part, depth: depth + 1)
                return part.isKind(of: "NSCompoundPredicate") ? "(\(text))" : text
            }
            switch predicate["NSCompoundPredicateType"]?.integer {
            case 0: return "NOT " + (parts.first ?? "")
            case 1: return parts.joined(separator: " AND ")
            case 2: return parts.joined(separator: " OR ")
            default: return unknown(predicate)
            }
        }
        if predicate.isKind(of: "NSComparisonPredicate") {
            let left = predicate["NSLeftExpression"].map { expression($0, depth: depth + 1) } ?? "nil"
            let right = predicate["NSRightExpression"].map { expression($0, depth: depth + 1) } ?? "nil"
            guard let comparison = predicate["NSPredicateOperator"], let sign = sign(of: comparison) else {
                return unknown(predicate)
            }
            // Membership is stored from the container's side.
            let isMembership =
                comparison["NSOperatorType"]?.integer == membership
                && comparison["NSFlags"]?.integer == 1
            return isMembership ? "\(left) IN \(right)" : "\(left) \(sign) \(right)"
        }
        switch predicate.className {
        case "NSTruePredicate": return "TRUEPREDICATE"
        case "NSFalsePredicate": return "FALSEPREDICATE"
        default: return predicate["NSPredicateString"]?.text ?? unknown(predicate)
        }
    }

    private static func unknown(_ object: ArchivedObject) -> String { "<\(object.className ?? "value")>" }

    private static let membership = 99

    private static func sign(of comparison: ArchivedObject) -> String? {
        let options = comparison["NSOptions"]?.integer ?? 0
        let letters = (options & 1 != 0 ? "c" : "") + (options & 2 != 0 ? "d" : "")
        let suffix = letters.isEmpty ? "" : "[\(letters)]"
        switch comparison["NSOperatorType"]?.integer {
        case 0: return "<"
        case 1: return "<="
        case 2: return ">"
        case 3: return ">="
        case 4: return "==" + suffix
        case 5: return "!=" + suffix
        case 6: return "MATCHES" + suffix
        case 7: return "LIKE" + suffix
        case 8: return "BEGINSWITH" + suffix
        case 9: return "ENDSWITH" + suffix
        case 10: return "IN" + suffix
        case membership: return "CONTAINS" + suffix
        case 100: return "BETWEEN"
        default: return nil
        }
    }

    private static func expression(_ object: ArchivedObject, depth: Int) -> String {
        guard depth < depthMax else { return "<too deep>" }
        func part(_ key: String) -> String? { object[key].map { expression($0, depth: depth + 1) } }
        switch object["NSExpressionType"]?.integer {
        case 0: return object["NSConstantValue"].map { constant($0, depth: depth + 1) } ?? "nil"
        case 1: return "SELF"
        case 2: return "$" + (object["NSVariable"]?.text ?? "")
        case 10: return object["NSKeyPath"]?.text ?? ""
        case 3, 4: return function(object, depth: depth)
        case 14:
            let parts = (object["NSCollection"]?.list ?? []).map { expression($0, depth: depth + 1) }
            return "{" + parts.joined(separator: ", ") + "}"
        case 13:
            guard let collection = part("NSCollectionExpression") ?? part("NSCollection"),
                let variable = object["NSVariable"]?.text ?? part("NSVariableExpression")
            else { return unknown(object) }
            let predicate = object["NSPredicate"].map { text(of: $0, depth: depth + 1) } ?? "TRUEPREDICATE"
            return "SUBQUERY(\(collection), \(variable), \(predicate))"
        default: return unknown(object)
        }
    }

    /// A key path is stored as a call of `valueForKeyPath:`, and a sum as one of `add:to:`.
    private static func function(_ object: ArchivedObject, depth: Int) -> String {
        let name = object["NSSelectorName"]?.text ?? ""
        let arguments = (object["NSArguments"]?.list ?? []).map { expression($0, depth: depth + 1) }
        if name == "valueForKey:" || name == "valueForKeyPath:", let path = arguments.first {
            let operand = object["NSOperand"].map { expression($0, depth: depth + 1) } ?? "SELF"
            return operand == "SELF" ? path : "\(operand).\(path)"
        }
        let signs = ["add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/"]
        if let sign = signs[name], arguments.count == 2 { return "(\(arguments[0]) \(sign) \(arguments[1]))" }
        return "\(name)(\(arguments.joined(separator: ", ")))"
    }

    private static func constant(_ object: ArchivedObject, depth: Int) -> String {
        guard depth < depthMax else { return "<too deep>" }
        if let text = object.text {
            return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        if object.isFlag { return object.integer == 1 ? "YES" : "NO" }
        if let integer = object.integer { return "\(integer)" }
        if let number = object.number { return "\(number)" }
        if let date = object.date { return "CAST(\(date.timeIntervalSinceReferenceDate), \"NSDate\")" }
        if let list = object.list {
            return "{" + list.map { constant($0, depth: depth + 1) }.joined(separator: ", ") + "}"
        }
        return unknown(object)
    }
}
