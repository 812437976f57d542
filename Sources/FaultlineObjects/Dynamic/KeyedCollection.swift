internal import Foundation

/// The members of a to-many relationship in a path of names: values further along are collected.
struct KeyedCollection {
    private let members: [ManagedObject]

    init(_ members: [ManagedObject]) { self.members = members }

    /// The value of the rest of a path for the members; reports an invalid path to the owner.
    func value(_ names: ArraySlice<String>, of owner: ManagedObject, _ keyPath: String) -> Any? {
        guard let first = names.first else { return members }
        guard first.hasPrefix("@") else {
            let values = members.compactMap { $0.value(forKeyPath: names.joined(separator: ".")) }
            // Two to-many relationships give one list, not a list of lists.
            return values.flatMap { ($0 as? [Any]) ?? [$0] }
        }
        let rest = names.dropFirst()
        if first == "@count", rest.isEmpty { return members.count }
        guard !rest.isEmpty, let numbers = collected(rest) else {
            owner.report("The path \(keyPath) is none: @count stands last, @sum, @avg, @min and @max before a number.")
            return nil
        }
        let isSum = first == "@sum" || first == "@avg"
        guard !isSum || numbers.allSatisfy(\.isNumber) else {
            owner.report("The path \(keyPath) does not lead to a number, so it can be neither added nor averaged.")
            return nil
        }
        switch first {
        case "@sum": return sum(of: numbers)
        case "@avg": return numbers.isEmpty ? nil : average(of: numbers)
        case "@min": return numbers.min()?.value
        case "@max": return numbers.max()?.value
        default:
            owner.report("The path \(keyPath) has \(first), which is not known: @count, @sum, @avg, @min, @max are.")
            return nil
        }
    }

    /// A decimal if all numbers are decimals, else a floating-point number.
    private func average(of measures: [Measure]) -> Any {
        if let sum = sum(of: measures) as? Decimal { return sum / Decimal(measures.count) }
        return measures.reduce(0) { $0 + $1.asDouble } / Double(measures.count)
    }

    /// The values at the end of a path, without nil; nil if one can be neither added nor compared.
    private func collected(_ names: ArraySlice<String>) -> [Measure]? {
        let values = members.compactMap { $0.value(forKeyPath: names.joined(separator: ".")) }
        let measures = values.flatMap { ($0 as? [Any]) ?? [$0] }.map(Measure.init)
        return measures.contains { $0 == nil } ? nil : measures.compactMap { $0 }
    }

    /// Exact for whole numbers as long as they fit, and for decimals.
    private func sum(of measures: [Measure]) -> Any? {
        var whole = 0
        var decimal: Decimal?
        var isWhole = true
        for measure in measures {
            if case .decimal(let value) = measure { decimal = (decimal ?? 0) + value }
            guard isWhole, case .int(let value) = measure,
                case let (sum, overflow) = whole.addingReportingOverflow(value),
                !overflow
            else {
                isWhole = false
                continue
            }
            whole = sum
        }
        if isWhole { return whole }
        if let decimal, measures.allSatisfy({ if case .decimal = $0 { true } else { false } }) { return decimal }
        return measures.reduce(0) { $0 + $1.asDouble }
    }
}

/// A value that can be ordered among values of its kind.
private enum Measure: Comparable {
    case int(Int)
    case double(Double)
    case decimal(Decimal)
    case date(Date)
    case string(String)

    init?(_ value: Any) {
        switch value {
        case let value as any BinaryInteger: self = Int(exactly: value).map { .int($0) } ?? .double(Double(value))
        case let value as Double: self = .double(value)
        case let value as Float: self = .double(Double(value))
        case let value as Decimal: self = .decimal(value)
        case let value as Date: self = .date(value)
        case let value as String: self = .string(value)
        default: return nil
        }
    }

    var value: Any {
        switch self {
        case .int(let value): value
        case .double(let value): value
        case .decimal(let value): value
        case .date(let value): value
        case .string(let value): value
        }
    }

    var isNumber: Bool {
        switch self {
        case .int, .double, .decimal: true
        case .date, .string: false
        }
    }

    /// The nearest floating-point number; 0 for text, seconds since 2001 for dates.
    var asDouble: Double {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue
        case .date(let value): value.timeIntervalSinceReferenceDate
        case .string: 0
        }
    }

    static func < (left: Measure, right: Measure) -> Bool {
        switch (left, right) {
        case (.int(let left), .int(let right)): left < right
        case (.decimal(let left), .decimal(let right)): left < right
        case (.date(let left), .date(let right)): left < right
        case (.string(let left), .string(let right)): left < right
        default: left.asDouble < right.asDouble
        }
    }
}
