internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

/// The state of one aggregate.
struct AggregateState {
    private let function: AggregateFunction
    /// Nil if objects are counted, not values.
    private let column: Int?
    /// How numbers are added.
    private let kind: ColumnKind?
    private var count = 0
    private var whole: Int128 = 0
    private var fraction = 0.0
    private var decimal = Decimal(0)
    private var extreme = RowValue.null
    /// The key of the extreme.
    private var extremeKey: [UInt8] = []

    /// - Parameters:
    ///   - function: The function to compute.
    ///   - column: The index among the columns that are read.
    ///   - kind: The type of the column.
    init(_ function: AggregateFunction, column: Int?, kind: ColumnKind?) {
        self.function = function
        self.column = column
        self.kind = kind
    }

    /// Adds the values of one object.
    mutating func add(_ values: [RowValue], _ columns: [AggregateColumn]) {
        guard let column else {
            count += 1
            return
        }
        let value = values[column]
        if case .null = value { return }
        count += 1
        switch function {
        case .count: break
        case .sum, .average:
            switch value {
            case .int(let value): whole += Int128(value)
            case .uint(let value): whole += Int128(value)
            case .double(let value): fraction += value
            case .float(let value): fraction += Double(value)
            case .decimal(let value): decimal += Decimal(value)
            default: break
            }
        case .minimum, .maximum:
            var key = KeyWriter()
            columns[column].appendKey(of: value, to: &key)
            let isBetter = key.withBytes { bytes in
                if count == 1 { return true }
                let order = extremeKey.withUnsafeBytes { KeyOrder.compare(bytes, $0) }
                return function == .minimum ? order < 0 : order > 0
            }
            guard isBetter else { return }
            extremeKey = key.withBytes { [UInt8]($0) }
            extreme = value
        }
    }

    /// The result: for no values, the sum is 0, and the average, least and greatest value are nil.
    var value: AggregateValue {
        switch function {
        case .count: return .whole(Int128(count))
        case .minimum, .maximum: return .stored(extreme)
        case .sum:
            if kind == .attribute(.decimal) { return .decimal(decimal) }
            return kind?.isInteger == true ? .whole(whole) : .fraction(fraction)
        case .average:
            if count == 0 { return .stored(.null) }
            if kind == .attribute(.decimal) { return .decimal(decimal / Decimal(count)) }
            return .fraction(kind?.isInteger == true ? Double(whole) / Double(count) : fraction / Double(count))
        }
    }
}

/// Objects with equal values in some columns, and the aggregates over them.
struct AggregateGroup {
    /// Bytes whose order is the order of the groups.
    let key: [UInt8]
    /// One for each column by which objects are grouped.
    let keyValues: [RowValue]
    var states: [AggregateState]
}

/// The aggregates over the objects of a fetch, in slots.
struct AggregatePlan {
    /// Every column that is read, those of the groups first.
    var columns: [AggregateColumn] = []
    var groupedCount = 0
    var states: [AggregateState] = []

    /// Adds an aggregate of a column; nil for an aggregate of the objects.
    mutating func add(_ function: AggregateFunction, _ column: AggregateColumn?) {
        if let column { columns.append(column) }
        states.append(
            AggregateState(function, column: column == nil ? nil : columns.count - 1, kind: column?.kind))
    }

    /// Adds a column by which objects are grouped; called before any aggregate is added.
    mutating func group(by column: AggregateColumn) {
        columns.append(column)
        groupedCount += 1
    }
}
