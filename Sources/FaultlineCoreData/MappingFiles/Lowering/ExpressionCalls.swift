internal import FaultlineObjects
internal import Foundation

/// The functions of the format, and the methods of values, that expressions may call.
enum ExpressionCalls {
    private static let reducing = ["sum:", "count:", "min:", "max:", "average:"]
    private static let paired = [
        "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "raise:toPower:",
    ]
    private static let single = ["abs:", "floor:", "ceiling:", "trunc:", "sqrt:"]
    private static let texts = ["uppercase:", "lowercase:", "length:", "noindex:"]

    /// The numbers of arguments of the functions that are known, by their names.
    static let functions: [String: Int] = {
        var counts = Dictionary(uniqueKeysWithValues: (single + texts + reducing).map { ($0, 1) })
        for name in paired { counts[name] = 2 }
        counts["castObject:toType:"] = 2
        counts["now"] = 0
        return counts
    }()

    /// Whether a function takes a number of arguments: those of collections take their members, too.
    static func accepts(_ name: String, _ count: Int) -> Bool {
        functions[name] == count || (reducing.contains(name) && count > 1)
    }

    /// The numbers of arguments of the methods that are known, by their names.
    static let methods = [
        "stringByAppendingString:": 1, "uppercaseString": 0, "lowercaseString": 0, "stringValue": 0, "description": 0,
        "length": 0, "count": 0, "intValue": 0, "integerValue": 0, "longLongValue": 0, "doubleValue": 0,
        "floatValue": 0, "boolValue": 0, "absoluteString": 0,
    ]

    /// The types that a value can be cast to.
    static let types = ["NSNumber", "NSDecimalNumber", "NSString", "NSDate"]

    /// The value of a function; nil if an argument has none.
    static func call(_ name: String, _ arguments: [Any?]) throws -> Any? {
        if name == "now" { return Date() }
        if reducing.contains(name) { return try reduced(name, arguments) }
        let values = arguments.compactMap { $0 }
        guard values.count == arguments.count, let first = values.first else { return nil }
        switch name {
        case "noindex:": return first
        case "uppercase:", "lowercase:", "length:":
            guard let text = first as? String else { throw wrong(name, first) }
            return name == "length:"
                ? text.utf16.count : name == "uppercase:" ? text.uppercased() : text.lowercased()
        case "castObject:toType:": return try cast(first, to: values[1] as? String ?? "")
        default: break
        }
        guard let number = ExpressionNumber(first) else { throw wrong(name, first) }
        if values.count == 1 {
            guard let result = ExpressionNumber.result(name, number) else { throw wrong(name, first) }
            return result.value
        }
        guard let second = ExpressionNumber(values[1]) else { throw wrong(name, values[1]) }
        guard let result = ExpressionNumber.result(name, number, second) else { throw wrong(name, values[1]) }
        return result.value
    }

    private static func wrong(_ name: String, _ value: Any) -> ExpressionFailure {
        ExpressionFailure(text: "\(name) has no value for \("\(value)".excerpt).")
    }

    /// One value of all members of the only argument, or of all arguments.
    private static func reduced(_ name: String, _ arguments: [Any?]) throws -> Any? {
        let first = arguments.first ?? nil
        let members = (arguments.count == 1 ? first as? [Any] : nil) ?? arguments.compactMap { $0 }
        if name == "count:" { return members.count }
        let numbers = try members.map { member in
            guard let number = ExpressionNumber(member) else { throw wrong(name, member) }
            return number
        }
        guard let start = numbers.first else { return name == "sum:" ? 0 : nil }
        switch name {
        case "min:": return numbers.min { $0.floating < $1.floating }?.value
        case "max:": return numbers.max { $0.floating < $1.floating }?.value
        default: break
        }
        var sum = start
        for number in numbers.dropFirst() {
            guard let next = ExpressionNumber.result("add:to:", sum, number) else { throw wrong(name, number.value) }
            sum = next
        }
        guard name == "average:" else { return sum.value }
        if case .decimal(let total) = sum { return total / Decimal(numbers.count) }
        return sum.floating / Double(numbers.count)
    }

    private static func cast(_ value: Any, to type: String) throws -> Any? {
        switch type {
        case "NSString": return text(of: value)
        case "NSNumber", "NSDecimalNumber":
            if let date = value as? Date { return date.timeIntervalSinceReferenceDate }
            if let text = value as? String { return Decimal(string: text) }
            guard let number = ExpressionNumber(value) else { throw wrong("CAST", value) }
            return number.value
        default:
            if value is Date { return value }
            guard let number = ExpressionNumber(value) else { throw wrong("CAST", value) }
            return Date(timeIntervalSinceReferenceDate: number.floating)
        }
    }

    private static func text(of value: Any) -> String {
        if let flag = value as? Bool { return flag ? "1" : "0" }
        return (value as? URL)?.absoluteString ?? "\(value)"
    }

    /// The value of a method; nil if the operand or an argument has none.
    static func method(_ name: String, of operand: Any?, _ arguments: [Any?]) throws -> Any? {
        guard let operand else { return nil }
        let whole = ExpressionNumber(operand)
        switch name {
        case "stringByAppendingString:":
            guard let text = operand as? String, let other = arguments.first as? String else { return nil }
            return text + other
        case "uppercaseString": return (operand as? String)?.uppercased()
        case "lowercaseString": return (operand as? String)?.lowercased()
        case "stringValue", "description", "absoluteString": return text(of: operand)
        case "length": return (operand as? String)?.utf16.count ?? (operand as? Data)?.count
        case "count": return (operand as? [Any])?.count
        case "intValue", "integerValue", "longLongValue":
            let number = whole?.floating ?? (operand as? String).flatMap { Double($0) }
            return number.flatMap { Int(exactly: $0.rounded(.towardZero)) }
        case "doubleValue", "floatValue": return whole?.floating ?? (operand as? String).flatMap { Double($0) }
        case "boolValue":
            if let text = operand as? String { return ["yes", "true", "1"].contains(text.lowercased()) }
            return whole.map { $0.floating != 0 }
        default: throw wrong(name, operand)
        }
    }
}
