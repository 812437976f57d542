internal import FaultlineModel

/// Builds the tests of a program from comparisons, for rows of one layout.
struct RowTestSource {
    /// The table to read the rows by the slots of the schema in force.
    let table: UnsafePointer<LayoutTable>
    /// The layout with the kinds of those slots.
    let current: RowLayout
    /// A row of the layout in force with the values of slots that the rows lack.
    let defaults: RowView?

    /// Builds a test of a slot; for both cases if the rows may have nil in a slot that has a default now.
    func leaf(_ slot: Int, _ make: (RowTestSource) -> RowTest) -> RowTest {
        guard current.columns.indices.contains(slot), table.slots[slot].isAbsent,
            let present = table.pointee.presentTable,
            !present.slots[slot].isAbsent
        else { return make(self) }
        let stored = RowTestSource(table: present, current: current, defaults: defaults)
        return RowTest.joining(
            [
                RowTest.joining([stored.isNil(slot, isNegated: false), make(self)], isAll: true),
                RowTest.joining([stored.isNil(slot, isNegated: true), make(stored)], isAll: true),
            ], isAll: false)
    }

    // MARK: Nil

    func isNil(_ slot: Int, isNegated: Bool) -> RowTest {
        guard current.columns.indices.contains(slot) else { return .constant(isNegated) }
        let access = table.slots[slot]
        if access.kind == SlotAccess.toManyKind { return .constant(isNegated) }
        if access.isAbsent { return .constant((defaults?.isNil(slot) ?? true) != isNegated) }
        if access.kind == SlotAccess.toOneKind { return range(access, slot, low: 0, high: 0, isNegated) }
        guard access.nilMask != 0 else { return .constant(isNegated) }
        var instruction = instruction(.isNil, access, slot, isNegated)
        instruction.nilMask = access.nilMask
        return .test(instruction, [])
    }

    func isDangling(_ slot: Int, _ targets: ReferenceTargets, isNegated: Bool) -> RowTest {
        guard current.columns.indices.contains(slot) else { return .constant(isNegated) }
        let access = table.slots[slot]
        guard access.kind == SlotAccess.toOneKind, !access.isAbsent else { return .constant(isNegated) }
        var instruction = instruction(.dangling, access, slot, isNegated)
        instruction.targets = .passUnretained(targets)
        return .test(instruction, [])
    }

    /// A test that every value passes: true unless nil.
    private func isNotNil(_ slot: Int, isNegated: Bool) -> RowTest { isNil(slot, isNegated: !isNegated) }

    // MARK: Comparisons

    func compare(_ slot: Int, _ comparison: RowComparison, _ value: RowValue, isNegated: Bool) -> RowTest {
        guard current.columns.indices.contains(slot) else { return .constant((comparison == .notEqual) != isNegated) }
        if comparison == .notEqual { return compare(slot, .equal, value, isNegated: !isNegated) }
        if value == .null {
            return comparison == .equal ? isNil(slot, isNegated: isNegated) : .constant(isNegated)
        }
        let access = table.slots[slot]
        let kind = current.columns[slot].kind
        guard value.isComparable(with: kind) else { return .constant(isNegated) }
        if access.isAbsent { return absent(slot, .compare(slot: slot, comparison, value), isNegated) }
        switch (kind, value) {
        case (.attribute(.uuid), .uuid(let first, let second)):
            var test = instruction(comparison == .equal ? .uuidEqual : .uuidOrder, access, slot, isNegated)
            test.comparison = comparison
            (test.low, test.high) = (first, second)
            return .test(test, [])
        case (.attribute(.decimal), _):
            guard let number = value.asDecimal else { return .constant(isNegated) }
            var test = instruction(.decimalOrder, access, slot, isNegated)
            test.comparison = comparison
            return .test(test, [number.bytes])
        case (_, .string(let text)):
            return self.text(
                access,
                slot,
                comparison == .equal ? .textEqual : .textOrder,
                comparison,
                text,
                isNegated
            )
        case (_, .data(let bytes)):
            var test = instruction(comparison == .equal ? .dataEqual : .dataOrder, access, slot, isNegated)
            test.comparison = comparison
            return .test(test, [bytes])
        case (.attribute(.double), _), (.attribute(.date), _), (.attribute(.float), _):
            return floating(access, slot, comparison, value, isNegated)
        default: return integer(access, slot, comparison, value, isNegated)
        }
    }

    private func text(
        _ access: SlotAccess,
        _ slot: Int,
        _ operation: RowInstruction.Operation,
        _ comparison: RowComparison,
        _ text: String,
        _ isNegated: Bool
    ) -> RowTest {
        var test = instruction(operation, access, slot, isNegated)
        test.comparison = comparison
        return .test(test, [text._nfcCodeUnits])
    }

    func text(_ operation: RowInstruction.Operation, _ slot: Int, _ text: String, isNegated: Bool) -> RowTest {
        guard current.columns.indices.contains(slot), current.columns[slot].kind.isText else {
            return .constant(isNegated)
        }
        let access = table.slots[slot]
        if access.isAbsent {
            return absent(
                slot,
                operation == .textBegins
                    ? .beginsWith(slot: slot, text) : .containsText(slot: slot, text),
                isNegated
            )
        }
        if text.isEmpty { return isNotNil(slot, isNegated: isNegated) }
        return self.text(access, slot, operation, .equal, text, isNegated)
    }

    private func integer(
        _ access: SlotAccess,
        _ slot: Int,
        _ comparison: RowComparison,
        _ value: RowValue,
        _ isNegated: Bool
    ) -> RowTest {
        let isIdentifier = access.kind == SlotAccess.toOneKind
        let isSigned = access.isSigned && access.kind != 1
        let bits = Int128(access.width) * 8
        let least: Int128 = isSigned ? -(1 << (bits - 1)) : isIdentifier && comparison != .equal ? 1 : 0
        let most: Int128 = isSigned ? 1 << (bits - 1) - 1 : 1 << bits - 1
        var low = least
        var high = most
        let bounds: (floor: Int128, ceiling: Int128)
        switch value {
        case .bool(let value): bounds = value ? (1, 1) : (0, 0)
        case .int(let value): bounds = (Int128(value), Int128(value))
        case .uint(let value), .identifier(let value): bounds = (Int128(value), Int128(value))
        case .double(let value):
            guard let range = value.integerBounds else { return .constant(isNegated) }
            bounds = range
        case .float(let value):
            guard let range = Double(value).integerBounds else { return .constant(isNegated) }
            bounds = range
        default: return .constant(isNegated)
        }
        let isWhole = bounds.floor == bounds.ceiling
        switch comparison {
        case .equal, .notEqual:
            guard isWhole else { return .constant(isNegated) }
            (low, high) = (bounds.floor, bounds.floor)
        case .less: high = min(high, isWhole ? bounds.floor - 1 : bounds.floor)
        case .lessOrEqual: high = min(high, bounds.floor)
        case .greater: low = max(low, isWhole ? bounds.ceiling + 1 : bounds.ceiling)
        case .greaterOrEqual: low = max(low, bounds.ceiling)
        }
        guard low <= high, low >= least, high <= most else { return .constant(isNegated) }
        if low == least, high == most, !isIdentifier { return isNotNil(slot, isNegated: isNegated) }
        return range(
            access,
            slot,
            low: UInt64(truncatingIfNeeded: low),
            high: UInt64(truncatingIfNeeded: high),
            isNegated
        )
    }

    private func floating(
        _ access: SlotAccess,
        _ slot: Int,
        _ comparison: RowComparison,
        _ value: RowValue,
        _ isNegated: Bool
    ) -> RowTest {
        // The largest double not above the value, and the smallest not below it.
        let floor: Double
        let ceiling: Double
        switch value {
        case .double(let value): (floor, ceiling) = (value, value)
        case .float(let value): (floor, ceiling) = (Double(value), Double(value))
        case .int(let value): (floor, ceiling) = Double.around(Int128(value))
        case .uint(let value): (floor, ceiling) = Double.around(Int128(value))
        default: return .constant(isNegated)
        }
        guard !floor.isNaN else { return .constant(isNegated) }
        let isExact = floor == ceiling
        var low = -Double.infinity
        var high = Double.infinity
        switch comparison {
        case .equal, .notEqual:
            guard isExact else { return .constant(isNegated) }
            (low, high) = (floor, floor)
        case .less:
            guard floor > -.infinity else { return .constant(isNegated) }
            high = isExact ? floor.nextDown : floor
        case .lessOrEqual: high = floor
        case .greater:
            guard ceiling < .infinity else { return .constant(isNegated) }
            low = isExact ? ceiling.nextUp : ceiling
        case .greaterOrEqual: low = ceiling
        }
        return range(access, slot, low: low.bitPattern, high: high.bitPattern, isNegated)
    }

    // MARK: Membership

    func isMember(_ slot: Int, _ values: [RowValue], isNegated: Bool) -> RowTest {
        guard current.columns.indices.contains(slot) else { return .constant(isNegated) }
        let access = table.slots[slot]
        let kind = current.columns[slot].kind
        if access.isAbsent, kind != .toMany { return absent(slot, .isMember(slot: slot, values), isNegated) }
        var seen: Set<RowValue> = []
        let distinct = values.filter { seen.insert($0).inserted }
        func separately(_ values: [RowValue]) -> [RowTest] {
            values.map { compare(slot, .equal, $0, isNegated: isNegated) }
        }
        guard distinct.count > 8 else { return RowTest.joining(separately(distinct), isAll: isNegated) }
        var list: [[UInt8]] = []
        var rest: [RowValue] = []
        var operation = RowInstruction.Operation.int64Member
        for value in distinct {
            switch value {
            case .string(let text) where kind.isText:
                list.append(text._nfcCodeUnits)
                operation = .textMember
            case .data(let bytes) where value.isComparable(with: kind):
                list.append(bytes)
                operation = .dataMember
            case .int(let number) where kind.isSignedInteger: list.append(UInt64(bitPattern: number).littleEndianBytes)
            case .uint(let number) where kind.isUnsignedInteger: list.append(number.littleEndianBytes)
            case .identifier(let number) where kind == .toOne || kind == .link:
                list.append(number.littleEndianBytes)
            default: rest.append(value)
            }
        }
        guard list.count > 8 else { return RowTest.joining(separately(distinct), isAll: isNegated) }
        if operation == .int64Member {
            list.sort { $0.littleEndianNumber < $1.littleEndianNumber }
        } else {
            list.sort { $0.lexicographicallyPrecedes($1) }
        }
        var test = instruction(operation, access, slot, isNegated)
        test.field = access.loadOperation
        return RowTest.joining(separately(rest) + [.test(test, list)], isAll: isNegated)
    }

    // MARK: Parts

    private func range(_ access: SlotAccess, _ slot: Int, low: UInt64, high: UInt64, _ isNegated: Bool) -> RowTest {
        var test = instruction(access.loadOperation, access, slot, isNegated)
        (test.low, test.high) = (low, high)
        return .test(test, [])
    }

    private func instruction(
        _ operation: RowInstruction.Operation,
        _ access: SlotAccess,
        _ slot: Int,
        _ isNegated: Bool
    ) -> RowInstruction {
        RowInstruction(
            operation: operation,
            isNegated: isNegated,
            nilMask: access.nilMask,
            nilOffset: access.nilOffset,
            offset: access.offset,
            origin: access.origin,
            isFirst: access.isFirst != 0,
            slot: Int32(slot)
        )
    }

    /// Returns a constant test, as every row has the default.
    private func absent(_ slot: Int, _ filter: RowFilter, _ isNegated: Bool) -> RowTest {
        guard let defaults else { return .constant(isNegated) }
        let program = RowProgram(filter, layout: current)
        return .constant(program.matches(defaults) != isNegated)
    }
}
