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

    private static func foreign(_ name: String, _ value: Any) -> ExpressionFailure {
        ExpressionFailure(text: "\(name) takes no value of the type \(type(of: value)).")
    }

    /// One value of all members of the only argument, or of all arguments.
    private static func reduced(_ name: String, _ arguments: [Any?]) throws -> Any? {
        let first = arguments.first ?? nil
        let listed = arguments.count == 1 ? first.flatMap(ExpressionEvaluator.members) : nil
        let members = listed ?? arguments.compactMap { $0 }
        if name == "count:" { return members.count }
        let numbers = try members.map { member in
            guard let number = ExpressionNumber(member) else { throw wrong(name, member) }
            return number
        }
        guard let start = numbers.first else { return name == "sum:" ? 0 : nil }
        switch name {
        case "min:": return numbers.min { $0.precedes($1) }?.value
        case "max:": return numbers.max { $0.precedes($1) }?.value
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
        case "NSString": return try text(of: value, "CAST")
        case "NSNumber", "NSDecimalNumber":
            let number = try number(castFrom: value)
            guard type == "NSDecimalNumber" else { return number.value }
            guard let decimal = number.decimal else { throw wrong("CAST", value) }
            return decimal
        default:
            if value is Date { return value }
            guard let number = ExpressionNumber(value) else { throw wrong("CAST", value) }
            return Date(timeIntervalSinceReferenceDate: number.floating)
        }
    }

    private static func number(castFrom value: Any) throws -> ExpressionNumber {
        if let date = value as? Date { return .floating(date.timeIntervalSinceReferenceDate) }
        if let text = value as? String {
            let prefix = PrefixNumber(text)
            guard prefix.isWholeText else { throw wrong("CAST", value) }
            if let whole = Int(prefix.number) { return .whole(whole) }
            guard let decimal = Decimal(string: prefix.number), !decimal.isNaN else { throw wrong("CAST", value) }
            return .decimal(decimal)
        }
        guard let number = ExpressionNumber(value) else { throw wrong("CAST", value) }
        return number
    }

    // MARK: Methods

    /// A value as text: a number as `NSNumber` writes it.
    private static func text(of value: Any, _ name: String) throws -> String {
        switch value {
        case let text as String: return text
        case let url as URL: return url.absoluteString
        case let id as UUID: return id.uuidString
        case let date as Date: return "\(date)"
        default:
            guard let text = ExpressionNumber.text(of: value) else { throw foreign(name, value) }
            return text
        }
    }

    private static func string(_ value: Any, _ name: String) throws -> String {
        guard let text = value as? String else { throw foreign(name, value) }
        return text
    }

    /// The value of a method; nil if the operand or an argument has none.
    static func method(_ name: String, of operand: Any?, _ arguments: [Any?]) throws -> Any? {
        guard let operand else { return nil }
        switch name {
        case "stringByAppendingString:":
            guard let argument = arguments.first ?? nil else { return nil }
            return try string(operand, name) + string(argument, name)
        case "uppercaseString": return try string(operand, name).uppercased()
        case "lowercaseString": return try string(operand, name).lowercased()
        case "description": return try text(of: operand, name)
        case "stringValue":
            guard let text = ExpressionNumber.text(of: operand) else { throw foreign(name, operand) }
            return text
        case "absoluteString":
            guard let url = operand as? URL else { throw foreign(name, operand) }
            return url.absoluteString
        case "length": return try (operand as? Data)?.count ?? string(operand, name).utf16.count
        case "count":
            guard let members = ExpressionEvaluator.members(of: operand) else { throw foreign(name, operand) }
            return members.count
        case "intValue", "integerValue", "longLongValue", "doubleValue", "floatValue", "boolValue":
            return try number(name, operand)
        default: throw foreign(name, operand)
        }
    }

    /// The value of a method of a number, or of a text that begins with one.
    private static func number(_ name: String, _ operand: Any) throws -> Any {
        let text = operand as? String
        let number = text == nil ? ExpressionNumber(operand) : nil
        guard text != nil || number != nil else { throw foreign(name, operand) }
        switch name {
        case "boolValue": return text.map(PrefixNumber.isTrue) ?? (number?.isZero == false)
        case "doubleValue", "floatValue":
            guard let value = text.map({ Double(PrefixNumber($0).number) }) ?? number?.floating, value.isFinite else {
                throw wrong(name, operand)
            }
            return value
        default:
            let whole = text.map { Int(PrefixNumber($0).whole) } ?? number?.truncated
            guard let whole, name != "intValue" || Int32(exactly: whole) != nil else { throw wrong(name, operand) }
            return whole
        }
    }
}
