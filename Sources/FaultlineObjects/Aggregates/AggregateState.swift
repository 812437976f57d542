internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

/// The state of one aggregate.
struct AggregateState {
    private let function: AggregateFunction
    /// The place of the column among those that are read; nil if objects are counted, not values.
    private let place: Int?
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
    ///   - place: The column's place among those that are read; nil to count objects.
    ///   - kind: The type of the column.
    init(_ function: AggregateFunction, at place: Int?, kind: ColumnKind?) {
        self.function = function
        self.place = place
        self.kind = kind
    }

    /// Adds the value of one object.
    ///
    /// - Parameters:
    ///   - row: The object's row or draft.
    ///   - columns: All columns that are read.
    ///   - scratch: Memory for a key.
    ///   - load: Reads a large value.
    /// - Throws: The errors of `load`.
    mutating func add(
        _ row: some SlotValues, _ columns: [AggregateColumn], _ scratch: inout KeyWriter, _ load: AggregateColumn.Load
    ) throws {
        guard let place else {
            count += 1
            return
        }
        let column = columns[place]
        if column.isNil(in: row) { return }
        count += 1
        switch function {
        case .count: break
        case .sum, .average: addNumber(row, column)
        case .minimum, .maximum: try compare(row, column, &scratch, load)
        }
    }

    private mutating func addNumber(_ row: some SlotValues, _ column: AggregateColumn) {
        switch column.kind {
        case .attribute(.double): fraction += row.double(column.slot)
        case .attribute(.float): fraction += Double(row.float(column.slot))
        case .attribute(.decimal): decimal += Decimal(row.decimal(column.slot))
        case _ where column.kind.isUnsignedInteger: whole += Int128(row.uint64(column.slot))
        default: whole += Int128(row.int64(column.slot))
        }
    }

    private mutating func compare(
        _ row: some SlotValues, _ column: AggregateColumn, _ scratch: inout KeyWriter, _ load: AggregateColumn.Load
    ) throws {
        scratch.removeAll()
        try column.appendKey(of: row, to: &scratch, load)
        let isBetter = scratch.withBytes { bytes in
            if count == 1 { return true }
            let order = extremeKey.withUnsafeBytes { KeyOrder.compare(bytes, $0) }
            return function == .minimum ? order < 0 : order > 0
        }
        guard isBetter else { return }
        extremeKey.removeAll(keepingCapacity: true)
        scratch.withBytes { extremeKey.append(contentsOf: $0) }
        extreme = try column.value(of: row, load)
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
            AggregateState(function, at: column == nil ? nil : columns.count - 1, kind: column?.kind))
    }

    /// Adds a column by which objects are grouped; called before any aggregate is added.
    mutating func group(by column: AggregateColumn) {
        columns.append(column)
        groupedCount += 1
    }
}
