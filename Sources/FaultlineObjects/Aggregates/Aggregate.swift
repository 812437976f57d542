public import Foundation
internal import FaultlineStore

/// One value computed from a property of many objects: a count, sum, average, least or greatest value.
///
///     let (count, total) = try context.fetchAggregates(FetchDescriptor<Employee>(), .count, .sum(\.salary))
///
/// It is computed on the stored bytes: no object is made and no fault fires. Nil is ignored, as in Core Data and SQL.
/// The order is that of a sort: text by Swift's `<`, not-a-number above every number.
public struct Aggregate<T: PersistentModel, Value> {
    let function: AggregateFunction
    /// Nil for a count of objects.
    let keyPath: PartialKeyPath<T>?
    /// Converts the computed value; nil if that is impossible.
    let convert: (AggregateValue) -> Value?

    /// Makes an aggregate whose value is a stored one.
    init(extreme function: AggregateFunction, _ keyPath: PartialKeyPath<T>) {
        self.init(function, keyPath) { aggregate in
            guard case .stored(let value) = aggregate else { return nil }
            return FetchedValue.make(value, Value.self)
        }
    }

    init(
        _ function: AggregateFunction, _ keyPath: PartialKeyPath<T>?, _ convert: @escaping (AggregateValue) -> Value?
    ) {
        self.function = function
        self.keyPath = keyPath
        self.convert = convert
    }
}

/// The function of an aggregate.
enum AggregateFunction: Sendable { case count, sum, average, minimum, maximum }

/// The result: a stored value of a row; for sums and averages, a number.
enum AggregateValue {
    case stored(RowValue)
    case whole(Int128)
    case fraction(Double)
    case decimal(Decimal)
}

extension Aggregate where Value == Int {
    /// The number of objects.
    public static var count: Aggregate { Aggregate(.count, nil, Int.init(aggregate:)) }

    /// The number of objects whose property is not nil.
    public static func count<V>(_ keyPath: KeyPath<T, V>) -> Aggregate {
        Aggregate(.count, keyPath, Int.init(aggregate:))
    }

    /// The exact sum of whole numbers, 0 for none; the fetch throws if it does not fit.
    public static func sum<V: FixedWidthInteger>(_ keyPath: KeyPath<T, V>) -> Aggregate {
        Aggregate(.sum, keyPath, Int.init(aggregate:))
    }

    /// The exact sum of the whole numbers that are not nil, 0 for none; the fetch throws if it does not fit.
    public static func sum<V: FixedWidthInteger>(_ keyPath: KeyPath<T, V?>) -> Aggregate {
        Aggregate(.sum, keyPath, Int.init(aggregate:))
    }
}

extension Aggregate where Value == Double {
    /// The sum of floating-point numbers, 0 for none.
    public static func sum<V: BinaryFloatingPoint>(_ keyPath: KeyPath<T, V>) -> Aggregate {
        Aggregate(.sum, keyPath, Double.init(aggregate:))
    }

    /// The sum of the floating-point numbers that are not nil, 0 for none.
    public static func sum<V: BinaryFloatingPoint>(_ keyPath: KeyPath<T, V?>) -> Aggregate {
        Aggregate(.sum, keyPath, Double.init(aggregate:))
    }
}

extension Aggregate where Value == Decimal {
    /// The exact sum of decimals, 0 for none.
    public static func sum(_ keyPath: KeyPath<T, Decimal>) -> Aggregate {
        Aggregate(.sum, keyPath, Decimal.init(aggregate:))
    }

    /// The exact sum of the decimals that are not nil, 0 for none.
    public static func sum(_ keyPath: KeyPath<T, Decimal?>) -> Aggregate {
        Aggregate(.sum, keyPath, Decimal.init(aggregate:))
    }
}

extension Aggregate where Value == Double? {
    /// The average of whole numbers; nil for none.
    public static func average<V: FixedWidthInteger>(_ keyPath: KeyPath<T, V>) -> Aggregate {
        Aggregate(.average, keyPath, Double.optional(aggregate:))
    }

    /// The average of the whole numbers that are not nil; nil for none.
    public static func average<V: FixedWidthInteger>(_ keyPath: KeyPath<T, V?>) -> Aggregate {
        Aggregate(.average, keyPath, Double.optional(aggregate:))
    }

    /// The average of floating-point numbers; nil for none.
    public static func average<V: BinaryFloatingPoint>(_ keyPath: KeyPath<T, V>) -> Aggregate {
        Aggregate(.average, keyPath, Double.optional(aggregate:))
    }

    /// The average of the floating-point numbers that are not nil; nil for none.
    public static func average<V: BinaryFloatingPoint>(_ keyPath: KeyPath<T, V?>) -> Aggregate {
        Aggregate(.average, keyPath, Double.optional(aggregate:))
    }
}

extension Aggregate where Value == Decimal? {
    /// The average of decimals; nil for none.
    public static func average(_ keyPath: KeyPath<T, Decimal>) -> Aggregate {
        Aggregate(.average, keyPath, Decimal.optional(aggregate:))
    }

    /// The average of the decimals that are not nil; nil for none.
    public static func average(_ keyPath: KeyPath<T, Decimal?>) -> Aggregate {
        Aggregate(.average, keyPath, Decimal.optional(aggregate:))
    }
}

extension Aggregate {
    /// The least value; nil for none.
    public static func minimum<V: Comparable>(_ keyPath: KeyPath<T, V>) -> Aggregate where Value == V? {
        Aggregate(extreme: .minimum, keyPath)
    }

    /// The least value that is not nil; nil for none.
    public static func minimum<V: Comparable>(_ keyPath: KeyPath<T, V?>) -> Aggregate where Value == V? {
        Aggregate(extreme: .minimum, keyPath)
    }

    /// The greatest value; nil for none.
    public static func maximum<V: Comparable>(_ keyPath: KeyPath<T, V>) -> Aggregate where Value == V? {
        Aggregate(extreme: .maximum, keyPath)
    }

    /// The greatest value that is not nil; nil for none.
    public static func maximum<V: Comparable>(_ keyPath: KeyPath<T, V?>) -> Aggregate where Value == V? {
        Aggregate(extreme: .maximum, keyPath)
    }
}

// MARK: Values

extension Int {
    fileprivate init?(aggregate: AggregateValue) {
        guard case .whole(let value) = aggregate, let value = Int(exactly: value) else { return nil }
        self = value
    }
}

extension Double {
    fileprivate init?(aggregate: AggregateValue) {
        guard case .fraction(let value) = aggregate else { return nil }
        self = value
    }

    fileprivate static func optional(aggregate: AggregateValue) -> Double?? {
        if case .stored(.null) = aggregate { return .some(nil) }
        return Double(aggregate: aggregate)
    }
}

extension Decimal {
    fileprivate init?(aggregate: AggregateValue) {
        guard case .decimal(let value) = aggregate else { return nil }
        self = value
    }

    fileprivate static func optional(aggregate: AggregateValue) -> Decimal?? {
        if case .stored(.null) = aggregate { return .some(nil) }
        return Decimal(aggregate: aggregate)
    }
}

/// Converts stored values to Swift values.
enum FetchedValue {
    /// The value as a type of a property; nil if the type has no such value, like an enum without such a case.
    static func make<V>(_ value: RowValue, _ type: V.Type) -> V? {
        if case .null = value { return (type as? any OptionalNil.Type)?.makeNil() as? V }
        return scalar(value, (type as? any OptionalValue.Type)?.wrappedType ?? type) as? V
    }

    /// The same for a type that is not optional, boxed; nil for nil.
    static func scalar(_ value: RowValue, _ type: any Any.Type) -> Any? {
        if let type = type as? any RawRepresentable.Type { return rawRepresented(value, type) }
        switch value {
        case .bool(let value): return value
        case .int(let value): return (type as? any FixedWidthInteger.Type).flatMap { integer(value, $0) }
        case .uint(let value): return (type as? any FixedWidthInteger.Type).flatMap { integer(value, $0) }
        case .float(let value): return value
        case .double(let value): return type == Date.self ? Date(timeIntervalSinceReferenceDate: value) : value
        case .string(let value): return type == URL.self ? URL(string: value) : value
        case .data(let value): return Data(value)
        case .uuid(let first, let second): return UUID(storedWords: (first, second))
        case .decimal(let value): return Decimal(value)
        case .identifier, .null: return nil
        }
    }

    private static func integer<Word: FixedWidthInteger, I: FixedWidthInteger>(_ value: Word, _: I.Type) -> I? {
        I(exactly: value)
    }

    private static func rawRepresented<R: RawRepresentable>(_ value: RowValue, _: R.Type) -> R? {
        (scalar(value, R.RawValue.self) as? R.RawValue).flatMap(R.init(rawValue:))
    }
}
