internal import FaultlineModel

/// Compares rows by the values of slots, without decoding the values.
///
/// The order is that of index keys: nil first, −0 equal to 0, not-a-number last and equal to itself, text by Swift's
/// `<`, decimals by value. A value outside of the row is loaded only if the order depends on it.
package struct RowOrdering: Sendable {
    private struct Key {
        let slot: Int
        let kind: UInt8
        let isVariable: Bool
        let sign: Int
    }

    private let keys: [Key]
    /// Whether the order can depend on values outside of the rows.
    package let mayNeedValues: Bool

    /// - Parameters:
    ///   - slots: The slots in the order of their weight.
    ///   - layout: The layout in force; rows of older ones are viewed through a `RowAdapter`.
    package init(_ slots: [(slot: Int, isAscending: Bool)], layout: RowLayout) {
        keys = slots.map { slot, isAscending in
            let column = layout.columns[slot]
            return Key(
                slot: slot,
                kind: column.kind.rawValue,
                isVariable: column.isVariable,
                sign: isAscending ? 1 : -1
            )
        }
        mayNeedValues = keys.contains(where: \.isVariable)
    }

    /// Whether the first row comes before the second; values outside of the rows come last.
    @inline(__always)
    package func areInOrder(_ first: RowView, _ second: RowView) -> Bool { order(first, second) < 0 }

    /// −1, 0 or 1 as the first row comes before, with or after the second; values outside of the rows come last.
    package func order(_ first: RowView, _ second: RowView) -> Int {
        // By index: an iterator would retain the array.
        for index in 0..<keys.count {
            let key = keys[index]
            let order =
                key.isVariable
                ? Self.variableOrder(first, second, key) : Self.fixedOrder(first, second, key.slot, key.kind)
            if order != 0 { return order * key.sign }
        }
        return 0
    }

    /// −1, 0 or 1 as the first row comes before, with or after the second; `load` returns values outside of the rows.
    package func order<Failure: Error>(
        _ first: RowView,
        _ second: RowView,
        loading load: (RowView, _ slot: Int, BlobReference) throws(Failure) -> [UInt8]
    ) throws(Failure) -> Int {
        for key in keys {
            let firstBlob = key.isVariable ? first.blobReference(key.slot) : nil
            let secondBlob = key.isVariable ? second.blobReference(key.slot) : nil
            let order: Int
            if firstBlob == nil, secondBlob == nil {
                order =
                    key.isVariable
                    ? Self.variableOrder(first, second, key) : Self.fixedOrder(first, second, key.slot, key.kind)
            } else if first.isNil(key.slot) || second.isNil(key.slot) {
                order = (first.isNil(key.slot) ? 0 : 1) - (second.isNil(key.slot) ? 0 : 1)
            } else {
                let left = try firstBlob.map { reference throws(Failure) in try load(first, key.slot, reference) }
                let right = try secondBlob.map { reference throws(Failure) in try load(second, key.slot, reference) }
                order = Self.valueOrder(
                    left ?? Array(first.variable(key.slot)),
                    first.variableFlags(key.slot),
                    right ?? Array(second.variable(key.slot)),
                    second.variableFlags(key.slot),
                    key.kind
                )
            }
            if order != 0 { return order * key.sign }
        }
        return 0
    }

    private static func valueOrder(
        _ left: [UInt8],
        _ leftFlags: VariableFlags,
        _ right: [UInt8],
        _ rightFlags: VariableFlags,
        _ kind: UInt8
    ) -> Int {
        left.withUnsafeBytes { left in
            right.withUnsafeBytes { right in
                kind <= 16
                    ? StoredText.order(left, leftFlags, right, rightFlags) : StoredText.byteOrder(left, right)
            }
        }
    }

    @inline(__always)
    private static func variableOrder(_ first: RowView, _ second: RowView, _ key: Key) -> Int {
        let slot = key.slot
        let left = first.variable(slot)
        let right = second.variable(slot)
        // Only empty values can be nil.
        if left.isEmpty || right.isEmpty {
            let isLeftNil = first.isNil(slot)
            let isRightNil = second.isNil(slot)
            if isLeftNil || isRightNil { return (isLeftNil ? 0 : 1) - (isRightNil ? 0 : 1) }
        }
        let leftFlags = first.variableFlags(slot)
        let rightFlags = second.variableFlags(slot)
        if leftFlags.contains(.blob) || rightFlags.contains(.blob) {
            return (leftFlags.contains(.blob) ? 1 : 0) - (rightFlags.contains(.blob) ? 1 : 0)
        }
        if key.kind > 16 { return StoredText.byteOrder(left, right) }
        return StoredText.order(left, leftFlags, right, rightFlags)
    }

    @inline(__always)
    private static func fixedOrder(_ first: RowView, _ second: RowView, _ slot: Int, _ kind: UInt8) -> Int {
        let isLeftNil = first.isNil(slot)
        let isRightNil = second.isNil(slot)
        if isLeftNil || isRightNil { return (isLeftNil ? 0 : 1) - (isRightNil ? 0 : 1) }
        switch kind {
        case 1: return (first.bool(slot) ? 1 : 0) - (second.bool(slot) ? 1 : 0)
        case 2...5: return order(first.int64(slot), second.int64(slot))
        case 6...9: return order(first.uint64(slot), second.uint64(slot))
        case 10: return order(Double(first.float(slot)), Double(second.float(slot)))
        case 11, 12: return order(first.double(slot), second.double(slot))
        case 13:
            let (left, right) = (first.uuid(slot), second.uuid(slot))
            let high = order(left.0.byteSwapped, right.0.byteSwapped)
            return high != 0 ? high : order(left.1.byteSwapped, right.1.byteSwapped)
        case 14: return first.decimal(slot).order(against: second.decimal(slot))
        case SlotAccess.toOneKind: return order(first.toOne(slot), second.toOne(slot))
        default: return order(first.uint64(slot), second.uint64(slot))
        }
    }

    @inline(__always)
    private static func order<Number: Comparable>(_ left: Number, _ right: Number) -> Int {
        left == right ? 0 : left < right ? -1 : 1
    }

    @inline(__always)
    private static func order(_ left: Double, _ right: Double) -> Int {
        if left < right { return -1 }
        if left > right { return 1 }
        if left == right { return 0 }
        return (left.isNaN ? 1 : 0) - (right.isNaN ? 1 : 0)
    }
}
