internal import Glibc

extension RowInstruction.Operation {
    /// Whether the test reads a value of variable size.
    @inline(__always)
    var isVariable: Bool {
        rawValue >= RowInstruction.Operation.textEqual.rawValue
            && rawValue <= RowInstruction.Operation.dataMember.rawValue
    }
}

extension RowInstruction {
    @inline(__always)
    func isNil(_ row: UnsafeRawPointer) -> Bool {
        row.load(fromByteOffset: Int(nilOffset), as: UInt8.self) & nilMask != 0
    }

    // MARK: Ranges

    /// Whether the row's number is in the range, or the negation of that.
    @inline(__always)
    func testRange(_ row: UnsafeRawPointer) -> Bool {
        if operation == .isNil { return isNil(row) != isNegated }
        let isIn =
            switch operation {
            case .int8: isInRange(row, Int8.self)
            case .int16: isInRange(row, Int16.self)
            case .int32: isInRange(row, Int32.self)
            case .int64: isInRange(row, Int64.self)
            case .uint8: isInRange(row, UInt8.self)
            case .uint16: isInRange(row, UInt16.self)
            case .uint32: isInRange(row, UInt32.self)
            case .uint64: isInRange(row, UInt64.self)
            case .float: isInFloatRange(row)
            case .double: isInDoubleRange(row)
            case .identifier: isInIdentifierRange(row)
            default: false
            }
        return (isIn && !(nilMask != 0 && isNil(row))) != isNegated
    }

    @inline(__always)
    private func isInRange<Number: FixedWidthInteger & BitwiseCopyable>(
        _ row: UnsafeRawPointer,
        _ type: Number.Type
    ) -> Bool {
        let number = row.loadUnaligned(fromByteOffset: Int(offset), as: Number.self)
        return number >= Number(truncatingIfNeeded: low) && number <= Number(truncatingIfNeeded: high)
    }

    @inline(__always)
    private func isInDoubleRange(_ row: UnsafeRawPointer) -> Bool {
        let number = row.loadUnaligned(fromByteOffset: Int(offset), as: Double.self)
        return number >= Double(bitPattern: low) && number <= Double(bitPattern: high)
    }

    @inline(__always)
    private func isInFloatRange(_ row: UnsafeRawPointer) -> Bool {
        let number = Double(row.loadUnaligned(fromByteOffset: Int(offset), as: Float.self))
        return number >= Double(bitPattern: low) && number <= Double(bitPattern: high)
    }

    @inline(__always)
    private func isInIdentifierRange(_ row: UnsafeRawPointer) -> Bool {
        let number = row.loadUnaligned(fromByteOffset: Int(offset), as: UInt64.self) & RowView.identifierMask
        return number >= low && number <= high
    }

    /// Tests up to 64 rows: bit n for row n.
    func mask(_ rows: UnsafePointer<UnsafeRawPointer>, _ count: Int) -> UInt64 {
        var mask =
            switch operation {
            case .int8: rangeMask(rows, count, Int8.self)
            case .int16: rangeMask(rows, count, Int16.self)
            case .int32: rangeMask(rows, count, Int32.self)
            case .int64: rangeMask(rows, count, Int64.self)
            case .uint8: rangeMask(rows, count, UInt8.self)
            case .uint16: rangeMask(rows, count, UInt16.self)
            case .uint32: rangeMask(rows, count, UInt32.self)
            case .uint64: rangeMask(rows, count, UInt64.self)
            case .float: floatMask(rows, count)
            case .double: doubleMask(rows, count)
            case .identifier: identifierMask(rows, count)
            default: nilBits(rows, count)
            }
        if operation != .isNil, nilMask != 0 { mask &= ~nilBits(rows, count) }
        return isNegated ? ~mask : mask
    }

    @inline(__always)
    private func rangeMask<Number: FixedWidthInteger & BitwiseCopyable>(
        _ rows: UnsafePointer<UnsafeRawPointer>,
        _ count: Int,
        _ type: Number.Type
    ) -> UInt64 {
        let low = Number(truncatingIfNeeded: low)
        // One unsigned comparison: the distance from the low end is at most that of the high end.
        let span = Number.Magnitude(truncatingIfNeeded: Number(truncatingIfNeeded: high) &- low)
        let offset = Int(offset)
        var mask: UInt64 = 0
        for index in 0..<count {
            let number = rows[index].loadUnaligned(fromByteOffset: offset, as: Number.self)
            let distance = Number.Magnitude(truncatingIfNeeded: number &- low)
            mask |= (distance <= span ? 1 : 0) << UInt64(truncatingIfNeeded: index)
        }
        return mask
    }

    @inline(__always)
    private func identifierMask(_ rows: UnsafePointer<UnsafeRawPointer>, _ count: Int) -> UInt64 {
        var mask: UInt64 = 0
        for index in 0..<count {
            mask |= (isInIdentifierRange(rows[index]) ? 1 : 0) << UInt64(truncatingIfNeeded: index)
        }
        return mask
    }

    @inline(__always)
    private func doubleMask(_ rows: UnsafePointer<UnsafeRawPointer>, _ count: Int) -> UInt64 {
        let low = Double(bitPattern: low)
        let high = Double(bitPattern: high)
        let offset = Int(offset)
        var mask: UInt64 = 0
        for index in 0..<count {
            let number = rows[index].loadUnaligned(fromByteOffset: offset, as: Double.self)
            let isIn: UInt64 = (number >= low ? 1 : 0) & (number <= high ? 1 : 0)
            mask |= isIn << UInt64(truncatingIfNeeded: index)
        }
        return mask
    }

    @inline(__always)
    private func floatMask(_ rows: UnsafePointer<UnsafeRawPointer>, _ count: Int) -> UInt64 {
        var mask: UInt64 = 0
        for index in 0..<count { mask |= (isInFloatRange(rows[index]) ? 1 : 0) << UInt64(truncatingIfNeeded: index) }
        return mask
    }

    @inline(__always)
    private func nilBits(_ rows: UnsafePointer<UnsafeRawPointer>, _ count: Int) -> UInt64 {
        let offset = Int(nilOffset)
        var mask: UInt64 = 0
        for index in 0..<count {
            let byte = rows[index].load(fromByteOffset: offset, as: UInt8.self)
            mask |= (byte & nilMask != 0 ? 1 : 0) << UInt64(truncatingIfNeeded: index)
        }
        return mask
    }

    // MARK: Other fixed fields

    /// Whether a field that is not nil passes.
    @inline(__always)
    func testFixed(_ row: UnsafeRawPointer) -> Bool {
        let field = row + Int(offset)
        switch operation {
        case .uuidEqual:
            return field.loadUnaligned(as: UInt64.self) == low
                && field.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == high
        case .uuidOrder:
            let first = field.loadUnaligned(as: UInt64.self).byteSwapped
            let second = field.loadUnaligned(fromByteOffset: 8, as: UInt64.self).byteSwapped
            let (otherFirst, otherSecond) = (low.byteSwapped, high.byteSwapped)
            if first != otherFirst { return comparison.holds(first < otherFirst ? -1 : 1) }
            return comparison.holds(second == otherSecond ? 0 : second < otherSecond ? -1 : 1)
        case .decimalOrder:
            guard let operands else { return false }
            let left = StoredDecimal(reading: field)
            let right = StoredDecimal(reading: operands.pointee.bytes)
            // Foundation's operators order not-a-number first, where keys and sorts order it last.
            if left.isNaN || right.isNaN {
                return comparison.holds((right.isNaN ? 1 : 0) - (left.isNaN ? 1 : 0))
            }
            return comparison.holds(left.order(against: right))
        case .dangling:
            let number = field.loadUnaligned(as: UInt64.self)
            return targets?._withUnsafeGuaranteedRef { $0.isGone(number) } ?? false
        default: return isNumberMember(row)
        }
    }

    @inline(never)
    private func isNumberMember(_ row: UnsafeRawPointer) -> Bool {
        let place = row + Int(offset)
        let number: UInt64 =
            switch field {
            case .int8: UInt64(bitPattern: Int64(place.load(as: Int8.self)))
            case .int16: UInt64(bitPattern: Int64(place.loadUnaligned(as: Int16.self)))
            case .int32: UInt64(bitPattern: Int64(place.loadUnaligned(as: Int32.self)))
            case .uint8: UInt64(place.load(as: UInt8.self))
            case .uint16: UInt64(place.loadUnaligned(as: UInt16.self))
            case .uint32: UInt64(place.loadUnaligned(as: UInt32.self))
            case .identifier: place.loadUnaligned(as: UInt64.self) & RowView.identifierMask
            default: place.loadUnaligned(as: UInt64.self)
            }
        guard let operands else { return false }
        var low = 0
        var high = Int(operandCount)
        while low < high {
            let middle = (low + high) / 2
            let candidate = operands[middle].number
            if candidate == number { return true }
            if candidate < number { low = middle + 1 } else { high = middle }
        }
        return false
    }

    // MARK: Variable values

    /// The bytes of the row's value.
    @inline(__always)
    func value(of row: UnsafeRawPointer) -> UnsafeRawBufferPointer {
        let word = row + Int(offset)
        let end = word.loadUnaligned(as: UInt32.self) & VariableEnd.endMask
        let start = isFirst ? 0 : (word - 4).loadUnaligned(as: UInt32.self) & VariableEnd.endMask
        return UnsafeRawBufferPointer(start: row + Int(origin &+ start), count: Int(end &- start))
    }

    @inline(__always)
    func flags(of row: UnsafeRawPointer) -> VariableFlags {
        VariableFlags(
            rawValue: row.loadUnaligned(fromByteOffset: Int(offset), as: UInt32.self) & ~VariableEnd.endMask
        )
    }

    /// Whether the size of a value outside of the row proves that it does not pass.
    func isRuledOut(_ reference: UnsafeRawBufferPointer, _ flags: VariableFlags) -> Bool {
        guard let operands, let base = reference.baseAddress else { return false }
        let byteCount = base.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        switch operation {
        case .dataEqual: return byteCount != UInt64(operands.pointee.byteCount)
        // Operands are in normal form, so equal text in normal form has the same number of bytes.
        case .textEqual: return flags.comparesAsBytes && byteCount != UInt64(operands.pointee.byteCount)
        default: return false
        }
    }

    /// Whether a value that is not nil passes.
    @inline(__always)
    func testVariable(_ value: UnsafeRawBufferPointer, _ flags: VariableFlags) -> Bool {
        // Safe because the compiler of programs gives operands to every test of a variable value.
        let operand = operands.unsafelyUnwrapped
        switch operation {
        case .textEqual:
            if StoredText.areEqual(value, operand.pointee.buffer) { return true }
            if flags.comparesAsBytes { return false }
            return String(decoding: value, as: UTF8.self) == operand.pointee.string
        case .textOrder:
            return comparison.holds(StoredText.order(value, flags, operand.pointee.buffer, .normal))
        case .textBegins: return StoredText.begins(value, flags, with: operand.pointee)
        case .textContains: return StoredText.contains(value, flags, operand.pointee)
        case .textMember:
            if flags.comparesAsBytes { return isBytesMember(value) }
            return StoredText.normalForm(of: value).withUnsafeBytes { isBytesMember($0) }
        case .dataEqual: return StoredText.areEqual(value, operand.pointee.buffer)
        case .dataMember: return isBytesMember(value)
        default: return comparison.holds(StoredText.byteOrder(value, operand.pointee.buffer))
        }
    }

    @inline(never)
    private func isBytesMember(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let operands else { return false }
        var low = 0
        var high = Int(operandCount)
        while low < high {
            let middle = (low + high) / 2
            let order = StoredText.byteOrder(operands[middle].buffer, value)
            if order == 0 { return true }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return false
    }
}

extension BlobReference {
    /// Reads the reference that replaces a value; nil if the bytes are none.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == VariableEnd.blobReferenceByteCount else { return nil }
        self.init(reading: bytes)
    }
}
