/// Whether a row matches a filter, as far as its own bytes determine it.
package enum RowOutcome: Sendable, Equatable {
    case rejected
    case accepted
    /// The answer depends on a value outside of the row.
    case undecided
}

/// A filter compiled for the rows of one layout.
///
/// The program is a flat list of tests, each with a jump target for true and one for false. A conjunction's tests of
/// fixed fields come first, and run test by test over batches of rows without a branch for each row. Running it
/// allocates nothing and counts no reference, except for text that is neither ASCII nor in normal form.
package final class RowProgram: Sendable {
    /// Whether the outcome can depend on a value of variable size, which may lie outside of the row.
    ///
    /// If not, only the fixed area is read: then only its size must be checked before.
    package let mayNeedValues: Bool
    /// The answer, if it is the same for every row.
    package let constantOutcome: Bool?

    /// The layouts, kept alive for the table.
    private let layout: RowLayout
    private let adapter: RowAdapter?
    /// Kept alive for the instructions.
    private let targets: [ReferenceTargets]
    // Safe because all of them are written before the program is shared, and never after.
    nonisolated(unsafe) private let code: UnsafeMutablePointer<RowInstruction>
    // Safe because it is written before the program is shared, and never after.
    nonisolated(unsafe) private let operandMemory: [UnsafeMutableRawPointer]
    private let entry: Int32
    /// Instructions that every matching row passes (or, inverted, of which a matching row fails one).
    // Safe because it is written before the program is shared, and never after.
    nonisolated(unsafe) private let ranges: UnsafeMutablePointer<RowInstruction>
    private let rangeCount: Int
    private let areRangesInverted: Bool
    /// The jump target for rows that pass the ranges; `accept` if no test is left.
    private let entryAfterRanges: Int32

    /// Compiles a filter for rows of the layout in force.
    package convenience init(_ filter: RowFilter, layout: RowLayout) {
        self.init(filter, layout: layout, adapter: nil)
    }

    /// Compiles a filter in slots of the layout in force for rows of an older one.
    package convenience init(_ filter: RowFilter, adapter: RowAdapter) {
        self.init(filter, layout: adapter.current, adapter: adapter)
    }

    /// Compiles a filter in slots of the layout in force for rows of a layout, the same or an older one.
    ///
    /// `defaults` has the values of columns that the older layout lacks; nil: zero, empty, nil. Throws
    /// `incompatibleColumn` if stored values cannot be read as the column's present kind.
    package convenience init(
        _ filter: RowFilter,
        layout: RowLayout,
        current: RowLayout,
        defaults: Draft? = nil
    ) throws(RowError) {
        if layout === current {
            self.init(filter, layout: layout)
        } else {
            self.init(filter, adapter: try RowAdapter(layout: layout, current: current, defaults: defaults))
        }
    }

    private init(_ filter: RowFilter, layout: RowLayout, adapter: RowAdapter?) {
        self.layout = layout
        self.adapter = adapter
        targets = filter.targets
        let table = adapter?.table ?? layout.table
        let source = RowTestSource(table: table, current: layout, defaults: adapter?.defaultRow)
        let test = RowTest.making(filter, isNegated: false, source)
        var builder = RowProgramBuilder()
        var ranges: [RowInstruction] = []
        var areInverted = false
        switch test {
        case .constant(let value):
            constantOutcome = value
            entry = value ? RowInstruction.accept : RowInstruction.reject
            entryAfterRanges = entry
        case .all(let parts):
            constantOutcome = nil
            ranges = parts.compactMap(\.range)
            let rest = parts.filter { $0.range == nil }
            entryAfterRanges = builder.emit(.all(rest), RowInstruction.accept, RowInstruction.reject)
            entry = builder.emit(
                .all(ranges.map { .test($0, []) }),
                entryAfterRanges,
                RowInstruction.reject
            )
        case .any(let parts) where parts.allSatisfy({ $0.range != nil }):
            constantOutcome = nil
            ranges = parts.compactMap(\.range).map { range in
                var range = range
                range.isNegated.toggle()
                return range
            }
            areInverted = true
            entryAfterRanges = RowInstruction.accept
            entry = builder.emit(test, RowInstruction.accept, RowInstruction.reject)
        default:
            constantOutcome = nil
            if let range = test.range { ranges = [range] }
            entry = builder.emit(test, RowInstruction.accept, RowInstruction.reject)
            entryAfterRanges = ranges.isEmpty ? entry : RowInstruction.accept
        }
        mayNeedValues = builder.code.contains { !$0.isRange && $0.operation.isVariable }
        rangeCount = ranges.count
        areRangesInverted = areInverted
        self.ranges = .allocate(capacity: max(ranges.count, 1))
        self.ranges.initialize(from: ranges, count: ranges.count)
        code = .allocate(capacity: max(builder.code.count, 1))
        code.initialize(from: builder.code, count: builder.code.count)
        operandMemory = builder.memory
    }

    deinit {
        code.deallocate()
        ranges.deallocate()
        for memory in operandMemory { memory.deallocate() }
    }

    // MARK: One row

    /// Whether a row matches.
    ///
    /// If `mayNeedValues`, this is false for a row whose answer depends on a value outside of it: use `outcome(of:)` or
    /// `matches(_:loading:)`.
    @inline(__always)
    package func matches(_ row: RowView) -> Bool { run(row.base, from: entry) == RowInstruction.accept }

    /// Whether a row matches, or needs a value outside of it.
    package func outcome(of row: RowView) -> RowOutcome {
        switch run(row.base, from: entry) {
        case RowInstruction.accept: .accepted
        case RowInstruction.reject: .rejected
        default: .undecided
        }
    }

    /// Whether a row matches; `load` returns values outside of the row if the answer depends on them.
    package func matches<Failure: Error>(
        _ row: RowView,
        loading load: (_ slot: Int, BlobReference) throws(Failure) -> [UInt8]
    ) throws(Failure) -> Bool {
        var place = run(row.base, from: entry)
        while place <= RowProgram.needsValue {
            let instruction = code + Int(RowProgram.needsValue - place)
            let slot = Int(instruction.pointee.slot)
            guard let reference = BlobReference(instruction.pointee.value(of: row.base)) else { return false }
            let value = try load(slot, reference)
            let isTrue = value.withUnsafeBytes { value in
                instruction.pointee.testVariable(value, instruction.pointee.flags(of: row.base))
            }
            place = run(
                row.base,
                from: isTrue != instruction.pointee.isNegated
                    ? instruction.pointee.onTrue : instruction.pointee.onFalse
            )
        }
        return place == RowInstruction.accept
    }

    // MARK: Batches

    /// The largest number of rows in one call of `mask(rows:count:)`.
    package static let batchCountMax = 64

    /// Tests up to 64 rows at once.
    ///
    /// - Parameters:
    ///   - rows: First bytes of rows that were checked, all of the program's layout.
    ///   - count: At most `batchCountMax`.
    /// - Returns: Bit n of `accepted`: row n matches; of `undecided`: the answer depends on a value outside of row n.
    package func mask(rows: UnsafePointer<UnsafeRawPointer>, count: Int) -> (accepted: UInt64, undecided: UInt64) {
        precondition(count >= 0 && count <= Self.batchCountMax, "A batch has up to 64 rows.")
        let all: UInt64 = count == 64 ? .max : 1 << UInt64(count) &- 1
        if let constantOutcome { return (constantOutcome ? all : 0, 0) }
        var accepted = all
        for index in 0..<rangeCount { accepted &= ranges[index].mask(rows, count) }
        if areRangesInverted { accepted = all & ~accepted }
        if entryAfterRanges == RowInstruction.accept { return (accepted, 0) }
        var undecided: UInt64 = 0
        var rest = accepted
        while rest != 0 {
            let bit = rest & (~rest &+ 1)
            let place = run(rows[rest.trailingZeroBitCount], from: entryAfterRanges)
            rest &= ~bit
            if place != RowInstruction.accept { accepted &= ~bit }
            if place <= Self.needsValue { undecided |= bit }
        }
        return (accepted, undecided)
    }

    /// Counts the rows that match; `undecided` gets the index of each row whose answer depends on a value outside of
    /// it, which is not counted.
    package func countMatches(
        rows: UnsafePointer<UnsafeRawPointer>,
        count: Int,
        undecided: (Int) -> Void = { _ in }
    ) -> Int {
        var total = 0
        var start = 0
        while start < count {
            let size = min(Self.batchCountMax, count - start)
            let mask = mask(rows: rows + start, count: size)
            total += mask.accepted.nonzeroBitCount
            var rest = mask.undecided
            while rest != 0 {
                undecided(start + rest.trailingZeroBitCount)
                rest &= rest &- 1
            }
            start += size
        }
        return total
    }

    // MARK: Running

    /// This value and lower ones encode the instruction that needs a value outside of the row, counted downwards.
    static let needsValue: Int32 = -3

    private func run(_ row: UnsafeRawPointer, from entry: Int32) -> Int32 {
        var place = entry
        while place >= 0 {
            let instruction = code + Int(place)
            let isTrue: Bool
            if instruction.pointee.isRange {
                isTrue = instruction.pointee.testRange(row)
            } else if instruction.pointee.nilMask != 0, instruction.pointee.isNil(row) {
                isTrue = instruction.pointee.isNegated
            } else if instruction.pointee.operation.isVariable {
                let value = instruction.pointee.value(of: row)
                let flags = instruction.pointee.flags(of: row)
                if flags.contains(.blob) {
                    guard instruction.pointee.isRuledOut(value, flags) else { return Self.needsValue - place }
                    isTrue = instruction.pointee.isNegated
                } else {
                    isTrue = instruction.pointee.testVariable(value, flags) != instruction.pointee.isNegated
                }
            } else {
                isTrue = instruction.pointee.testFixed(row) != instruction.pointee.isNegated
            }
            place = isTrue ? instruction.pointee.onTrue : instruction.pointee.onFalse
        }
        return place
    }
}

/// Emits tests as instructions, from the last to the first, so that every jump target exists already.
struct RowProgramBuilder {
    var code: [RowInstruction] = []
    var memory: [UnsafeMutableRawPointer] = []

    /// Appends a test with two jump targets; returns its start.
    mutating func emit(_ test: RowTest, _ onTrue: Int32, _ onFalse: Int32) -> Int32 {
        switch test {
        case .constant(let value): return value ? onTrue : onFalse
        case .all(let parts):
            return parts.reversed().reduce(onTrue) { next, part in emit(part, next, onFalse) }
        case .any(let parts):
            return parts.reversed().reduce(onFalse) { next, part in emit(part, onTrue, next) }
        case .test(var instruction, let operands):
            instruction.onTrue = onTrue
            instruction.onFalse = onFalse
            if !operands.isEmpty {
                instruction.operands = keep(operands)
                instruction.operandCount = Int32(operands.count)
            }
            code.append(instruction)
            return Int32(code.count - 1)
        }
    }

    private mutating func keep(_ values: [[UInt8]]) -> UnsafePointer<RowOperand> {
        let byteCount = values.reduce(0) { $0 + $1.count }
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: byteCount + 1, alignment: 8)
        let operands = UnsafeMutablePointer<RowOperand>.allocate(capacity: values.count)
        memory.append(bytes)
        memory.append(UnsafeMutableRawPointer(operands))
        var start = 0
        for (index, value) in values.enumerated() {
            value.withUnsafeBytes { source in
                if let base = source.baseAddress { (bytes + start).copyMemory(from: base, byteCount: source.count) }
            }
            (operands + index).initialize(
                to: RowOperand(
                    bytes: UnsafeRawPointer(bytes + start),
                    byteCount: value.count,
                    isASCII: value.allSatisfy { $0 < 0x80 }
                )
            )
            start += value.count
        }
        return UnsafePointer(operands)
    }
}
