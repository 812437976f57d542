internal import FaultlineModel
internal import Foundation

/// A number in an expression: whole as long as it fits, as a decimal if a part is one.
enum ExpressionNumber {
    case whole(Int)
    case decimal(Decimal)
    case floating(Double)

    /// Nil for a value that is no number.
    init?(_ value: Any) {
        // Values of Swift also convert to `NSNumber`.
        if type(of: value) is NSNumber.Type, let number = value as? NSNumber {
            self.init(boxed: number)
            return
        }
        switch value {
        case let value as Bool: self = .whole(value ? 1 : 0)
        case let value as any BinaryInteger: self.init(integer: "\(value)")
        case let value as Decimal: self = .decimal(value)
        case let value as Double: self = .floating(value)
        case let value as Float: self = .floating(Double(value))
        default: return nil
        }
    }

    private init?(integer digits: String) {
        if let whole = Int(digits) {
            self = .whole(whole)
        } else if let decimal = Decimal(string: digits) {
            self = .decimal(decimal)
        } else {
            return nil
        }
    }

    private init?(boxed number: NSNumber) {
        switch String(cString: number.objCType) {
        case _ where number is NSDecimalNumber: self = .decimal(number.decimalValue)
        case "d", "f": self = .floating(number.doubleValue)
        case "Q", "L": self.init(integer: "\(number.uint64Value)")
        default: self.init(integer: "\(number.int64Value)")
        }
    }

    var value: Any {
        switch self {
        case .whole(let value): value
        case .decimal(let value): value
        case .floating(let value): value
        }
    }

    var floating: Double {
        switch self {
        case .whole(let value): Double(value)
        case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue
        case .floating(let value): value
        }
    }

    /// The number as a decimal, a double by its shortest text; nil if it is too large or not finite.
    var decimal: Decimal? {
        switch self {
        case .whole(let value): Decimal(value)
        case .decimal(let value): value
        case .floating(let value): value.isFinite ? Decimal(string: "\(value)") : nil
        }
    }

    var isZero: Bool {
        switch self {
        case .whole(let value): value == 0
        case .decimal(let value): value == 0
        case .floating(let value): value == 0
        }
    }

    /// The whole number towards zero; nil if it does not fit.
    var truncated: Int? {
        switch self {
        case .whole(let value): value
        case .decimal(let value): Self.whole(Self.truncated(value))
        case .floating(let value): Int(exactly: value.rounded(.towardZero))
        }
    }

    /// The whole number that a decimal is; nil for a fraction, and for one that does not fit.
    static func whole(_ decimal: Decimal) -> Int? {
        guard !decimal.isNaN, truncated(decimal) == decimal else { return nil }
        return Int("\(decimal)")
    }

    private static func truncated(_ decimal: Decimal) -> Decimal {
        let behavior = NSDecimalNumberHandler(
            roundingMode: .down, scale: 0, raiseOnExactness: false, raiseOnOverflow: false, raiseOnUnderflow: false,
            raiseOnDivideByZero: false)
        // Modes differ for negative numbers.
        let magnitude = NSDecimalNumber(decimal: decimal.magnitude).rounding(accordingToBehavior: behavior).decimalValue
        return decimal < 0 ? -magnitude : magnitude
    }

    /// A number as `NSNumber` writes it; nil for a value that is no number.
    static func text(of value: Any) -> String? {
        // The shortest text of a `Float` is not that of the same `Double`.
        if type(of: value) == Float.self, let single = value as? Float { return withoutFraction("\(single)") }
        return switch ExpressionNumber(value) {
        case .whole(let whole): "\(whole)"
        case .decimal(let decimal): "\(decimal)"
        case .floating(let floating): withoutFraction("\(floating)")
        case nil: nil
        }
    }

    private static func withoutFraction(_ text: String) -> String {
        text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// Whether the number is less than another: whole numbers and decimals by their exact values.
    func precedes(_ other: ExpressionNumber) -> Bool {
        if let left = whole, let right = other.whole { return left < right }
        if case .floating(let left) = self, case .floating(let right) = other { return left < right }
        if let left = decimal, let right = other.decimal { return left < right }
        return floating < other.floating
    }

    private var whole: Int? { if case .whole(let value) = self { value } else { nil } }

    private var isDecimal: Bool { if case .decimal = self { true } else { false } }

    /// The result of a function with two arguments; nil if it has none, as a division by zero.
    static func result(_ name: String, _ left: ExpressionNumber, _ right: ExpressionNumber) -> ExpressionNumber? {
        if let left = left.whole, let right = right.whole, let (value, overflows) = whole(name, left, right), !overflows
        {
            return .whole(value)
        }
        if left.isDecimal || right.isDecimal, let first = left.decimal, let second = right.decimal {
            guard name == "raise:toPower:" else { return decimal(name, first, second) }
            if let power = whole(second), powers.contains(power) { return finite(pow(first, power)) }
        }
        return floating(name, left.floating, right.floating)
    }

    /// The powers that decimals are raised to.
    private static let powers = 0...1_000

    private static func finite(_ decimal: Decimal) -> ExpressionNumber? {
        decimal.isNaN ? nil : .decimal(decimal)
    }

    private static func whole(_ name: String, _ left: Int, _ right: Int) -> (Int, Bool)? {
        switch name {
        case "add:to:": return left.addingReportingOverflow(right)
        case "from:subtract:": return left.subtractingReportingOverflow(right)
        case "multiply:by:": return left.multipliedReportingOverflow(by: right)
        case "divide:by:": return left.dividedReportingOverflow(by: right)
        case "modulus:by:": return left.remainderReportingOverflow(dividingBy: right)
        default: return nil
        }
    }

    private static func decimal(_ name: String, _ left: Decimal, _ right: Decimal) -> ExpressionNumber? {
        switch name {
        case "add:to:": finite(left + right)
        case "from:subtract:": finite(left - right)
        case "multiply:by:": finite(left * right)
        case "divide:by:": right == 0 ? nil : finite(left / right)
        case "modulus:by:": right == 0 ? nil : finite(left - truncated(left / right) * right)
        default: nil
        }
    }

    private static func floating(_ name: String, _ left: Double, _ right: Double) -> ExpressionNumber? {
        let value: Double? =
            switch name {
            case "add:to:": left + right
            case "from:subtract:": left - right
            case "multiply:by:": left * right
            case "divide:by:": right == 0 ? nil : left / right
            case "modulus:by:": right == 0 ? nil : left.truncatingRemainder(dividingBy: right)
            case "raise:toPower:": pow(left, right)
            default: nil
            }
        return value.flatMap { $0.isFinite ? .floating($0) : nil }
    }

    /// The result of a function with one argument; nil if it has none.
    static func result(_ name: String, _ number: ExpressionNumber) -> ExpressionNumber? {
        if let whole = number.whole {
            switch name {
            case "abs:": return whole == .min ? .floating(-Double(whole)) : .whole(abs(whole))
            case "floor:", "ceiling:", "trunc:": return number
            default: break
            }
        }
        if case .decimal(let decimal) = number, name != "sqrt:" { return result(name, decimal) }
        let operand = number.floating
        let value: Double? =
            switch name {
            case "abs:": abs(operand)
            case "floor:": operand.rounded(.down)
            case "ceiling:": operand.rounded(.up)
            case "trunc:": operand.rounded(.towardZero)
            case "sqrt:": operand < 0 ? nil : operand.squareRoot()
            default: nil
            }
        return value.map(ExpressionNumber.floating)
    }

    private static func result(_ name: String, _ decimal: Decimal) -> ExpressionNumber? {
        let truncated = truncated(decimal)
        switch name {
        case "abs:": return .decimal(decimal.magnitude)
        case "trunc:": return .decimal(truncated)
        case "floor:": return .decimal(truncated > decimal ? truncated - 1 : truncated)
        case "ceiling:": return .decimal(truncated < decimal ? truncated + 1 : truncated)
        default: return nil
        }
    }
}

extension AttributeKind {
    /// A value as an attribute of the kind takes it, if it can hold it exactly; else the value itself, which is refused
    /// when it is set.
    func fitting(_ value: Any?) -> Any? {
        guard let value, let number = ExpressionNumber(value) else { return value }
        switch (self, number) {
        case (.bool, .whole(0)): return false
        case (.bool, .whole(1)): return true
        case (.float, _), (.double, _): return number.floating
        case (.decimal, .whole), (.decimal, .floating): return number.decimal ?? value
        case (_, .whole(let whole)) where isInteger: return whole
        case (_, .floating(let floating)) where isInteger: return Int(exactly: floating) ?? value
        case (_, .decimal(let decimal)) where isInteger: return ExpressionNumber.whole(decimal) ?? value
        default: return value
        }
    }

    /// A constant of a file as an attribute of the kind takes it; nil if the kind has no such value.
    func constant(_ value: ModelVersion.Value) -> (any Sendable)? {
        switch (self, value) {
        case (.bool, .flag(let flag)): flag
        case (.bool, .integer(0)): false
        case (.bool, .integer(1)): true
        case (.string, .text(let text)): text
        case (.float, .integer(let whole)), (.double, .integer(let whole)): Double(whole)
        case (.float, .number(let number)), (.double, .number(let number)): number
        case (.decimal, .integer(let whole)): Decimal(whole)
        case (.decimal, .decimal(let decimal)): decimal
        case (.decimal, .number(let number)): ExpressionNumber.floating(number).decimal
        case (.date, .date(let date)): date
        case (.uuid, .uuid(let id)): id
        case (.uuid, .text(let text)): UUID(uuidString: text)
        case (.url, .url(let url)): url
        case (.url, .text(let text)): URL(string: text)
        case (.data, .data(let data)): data
        case (_, .flag(let flag)) where isInteger: flag ? 1 : 0
        case (_, .integer(let whole)) where isInteger: Int(exactly: whole).flatMap { holds($0) ? $0 : nil }
        case (_, .number(let number)) where isInteger: Int(exactly: number).flatMap { holds($0) ? $0 : nil }
        default: nil
        }
    }

    private func holds(_ whole: Int) -> Bool {
        switch self {
        case .int8: Int8(exactly: whole) != nil
        case .int16: Int16(exactly: whole) != nil
        case .int32: Int32(exactly: whole) != nil
        case .uint8: UInt8(exactly: whole) != nil
        case .uint16: UInt16(exactly: whole) != nil
        case .uint32: UInt32(exactly: whole) != nil
        case .uint64: whole >= 0
        default: true
        }
    }
}
