internal import FaultlineModel
internal import Foundation

/// A number in an expression: whole as long as it fits, as a decimal if a part is one.
enum ExpressionNumber {
    case whole(Int)
    case decimal(Decimal)
    case floating(Double)

    /// Nil for a value that is no number.
    init?(_ value: Any) {
        switch value {
        case let value as Bool: self = .whole(value ? 1 : 0)
        case let value as any BinaryInteger:
            guard let whole = Int(exactly: value) else { return nil }
            self = .whole(whole)
        case let value as Decimal: self = .decimal(value)
        case let value as Double: self = .floating(value)
        case let value as Float: self = .floating(Double(value))
        default: return nil
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

    private var decimal: Decimal? {
        switch self {
        case .whole(let value): Decimal(value)
        case .decimal(let value): value
        case .floating: nil
        }
    }

    private var whole: Int? { if case .whole(let value) = self { value } else { nil } }

    /// The result of a function with two arguments; nil if it has none, as a division by zero.
    static func result(_ name: String, _ left: ExpressionNumber, _ right: ExpressionNumber) -> ExpressionNumber? {
        if let left = left.whole, let right = right.whole, let (value, overflows) = whole(name, left, right), !overflows
        {
            return .whole(value)
        }
        let isDecimal = if case .decimal = left { true } else if case .decimal = right { true } else { false }
        if isDecimal, let left = left.decimal, let right = right.decimal { return decimal(name, left, right) }
        return floating(name, left.floating, right.floating)
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
        case "add:to:": .decimal(left + right)
        case "from:subtract:": .decimal(left - right)
        case "multiply:by:": .decimal(left * right)
        case "divide:by:": right == 0 ? nil : .decimal(left / right)
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
        case (.decimal, .whole(let whole)): return Decimal(whole)
        case (_, .whole(let whole)) where isInteger: return whole
        case (_, .floating(let floating)) where isInteger: return Int(exactly: floating) ?? value
        case (_, .decimal) where isInteger: return Int(exactly: number.floating) ?? value
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
