/// A row of trusted bytes: getters do not check anything.
///
/// Created by `init(checking:)`, which checks sizes, ends, flags and nil bits once, or by `init(trusted:)` on bytes
/// that were checked before. The view borrows the bytes and the layout's table, which must outlive it. Slots are those
/// of the layout, or of the newer layout if the view was made with a `RowAdapter`. A slot out of bounds, or a getter
/// that does not fit the column's kind, is a programming error.
@usableFromInline
package struct RowView {
    /// The first byte of the row.
    @usableFromInline package let base: UnsafeRawPointer
    @usableFromInline package let table: UnsafePointer<LayoutTable>
    /// Bytes of the row, with its extension.
    @usableFromInline package let byteCount: UInt32
    /// Whether the row ends with an extension: record flag 3.
    @usableFromInline package let hasExtension: Bool

    /// Views bytes that were checked before.
    @inlinable @inline(__always)
    package init(trusted base: UnsafeRawPointer, byteCount: Int, table: UnsafePointer<LayoutTable>, hasExtension: Bool)
    {
        self.base = base
        self.table = table
        self.byteCount = UInt32(truncatingIfNeeded: byteCount)
        self.hasExtension = hasExtension
    }

    /// Views bytes that were checked before, for getters of values: order keys are not found.
    @inlinable @inline(__always)
    package init(trusted base: UnsafeRawPointer, table: UnsafePointer<LayoutTable>) {
        self.init(trusted: base, byteCount: 0, table: table, hasExtension: false)
    }

    /// The number of the layout that the row was written in.
    package var layoutNumber: UInt16 { table.pointee.physical?.pointee.number ?? table.pointee.number }

    @inlinable @inline(__always)
    package func isNil(_ slot: Int) -> Bool {
        let access = table.slots[slot]
        if access.nilMask != 0 {
            return base.load(fromByteOffset: Int(access.nilOffset), as: UInt8.self) & access.nilMask != 0
        }
        return isNilWithoutBit(slot)
    }

    /// The integer of a slot of any integer kind; unsigned values above `Int64.max` give their bit pattern.
    @inlinable @inline(__always)
    package func int64(_ slot: Int) -> Int64 {
        let access = table.slots[slot]
        if access.width == 8 { return base.loadUnaligned(fromByteOffset: Int(access.offset), as: Int64.self) }
        return narrowInt64(slot)
    }

    /// The integer of a slot of any unsigned kind; negative values of other kinds give their bit pattern.
    @inlinable @inline(__always)
    package func uint64(_ slot: Int) -> UInt64 { UInt64(bitPattern: int64(slot)) }

    /// The number of a double slot, or of one that was float in an older layout.
    @inlinable @inline(__always)
    package func double(_ slot: Int) -> Double {
        let access = table.slots[slot]
        if access.width == 8 { return base.loadUnaligned(fromByteOffset: Int(access.offset), as: Double.self) }
        return widenedDouble(slot)
    }

    @inlinable @inline(__always)
    package func float(_ slot: Int) -> Float {
        let access = table.slots[slot]
        if access.isAbsent { return absentFloat(slot) }
        return base.loadUnaligned(fromByteOffset: Int(access.offset), as: Float.self)
    }

    @inlinable @inline(__always)
    package func bool(_ slot: Int) -> Bool {
        let access = table.slots[slot]
        if access.isAbsent { return absentBool(slot) }
        return base.load(fromByteOffset: Int(access.offset), as: UInt8.self) != 0
    }

    /// Seconds since 1 January 2001 UTC.
    @inlinable @inline(__always)
    package func date(_ slot: Int) -> Double { double(slot) }

    /// The 16 bytes as two little-endian words, first bytes first.
    @inlinable @inline(__always)
    package func uuid(_ slot: Int) -> (UInt64, UInt64) {
        let access = table.slots[slot]
        if access.isAbsent { return absentUUID(slot) }
        let field = base + Int(access.offset)
        return (field.loadUnaligned(as: UInt64.self), field.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    package func decimal(_ slot: Int) -> StoredDecimal {
        let access = table.slots[slot]
        if access.isAbsent { return source(of: slot).decimal(slot) }
        return StoredDecimal(reading: base + Int(access.offset))
    }

    /// Identifier of a to-one relationship's target; 0 for nil.
    ///
    /// The class hint in the field's upper 16 bits is no part of the value.
    @inlinable @inline(__always)
    package func toOne(_ slot: Int) -> UInt64 {
        let access = table.slots[slot]
        if access.isAbsent { return absentToOne(slot) }
        return base.loadUnaligned(fromByteOffset: Int(access.offset), as: UInt64.self) & RowView.identifierMask
    }

    /// The bits of a to-one field that hold the value.
    @inlinable package static var identifierMask: UInt64 { 1 << 48 - 1 }

    /// The bytes of a variable value, or of its reference if the flags have `blob`.
    @inlinable @inline(__always)
    package func variable(_ slot: Int) -> UnsafeRawBufferPointer {
        let access = table.slots[slot]
        if access.isAbsent { return absentVariable(slot) }
        let word = base + Int(access.offset)
        let end = word.loadUnaligned(as: UInt32.self) & VariableEnd.endMask
        var start: UInt32 = 0
        if access.isFirst == 0 { start = (word - 4).loadUnaligned(as: UInt32.self) & VariableEnd.endMask }
        return UnsafeRawBufferPointer(start: base + Int(access.origin &+ start), count: Int(end &- start))
    }

    @inlinable @inline(__always)
    package func variableFlags(_ slot: Int) -> VariableFlags {
        let access = table.slots[slot]
        if access.isAbsent { return absentVariableFlags(slot) }
        let word = base.loadUnaligned(fromByteOffset: Int(access.offset), as: UInt32.self)
        return VariableFlags(rawValue: word & ~VariableEnd.endMask)
    }

    /// The string of a text slot whose value is in the row.
    @inlinable
    package func string(_ slot: Int) -> String { String(decoding: variable(slot), as: UTF8.self) }

    /// The reference to the value, if it is outside of the row.
    @inlinable @inline(__always)
    package func blobReference(_ slot: Int) -> BlobReference? {
        variableFlags(slot).isBlob ? BlobReference(reading: variable(slot)) : nil
    }

    /// The object's key in the collection whose inverse is this to-one slot; nil if it is the default key, the
    /// identifier × 2^16.
    package func orderKey(_ slot: Int) -> UInt64? {
        guard hasExtension else { return nil }
        let access = table.slots[slot]
        guard !access.isAbsent else { return nil }
        return RowExtension(of: self).key(ofSlot: access.origin)
    }
}

/// The slow paths of getters: narrow fields, and slots that the row's layout lacks.
extension RowView {
    /// The row with the values of slots that the row's layout lacks.
    private var fallback: RowView {
        // Safe because a table with an absent slot has a fallback, which lacks none: `RowAdapter` makes both.
        RowView(
            trusted: table.pointee.fallbackRow.unsafelyUnwrapped,
            table: table.pointee.fallbackTable.unsafelyUnwrapped
        )
    }

    /// Whether a slot's value is the default, because the row has none.
    package func isDefault(_ slot: Int) -> Bool {
        table.slots[slot].isAbsent && source(of: slot).base == fallback.base
    }

    /// The row with the value of a redirected slot: this one, by the older slots, or the row of defaults.
    private func source(of slot: Int) -> RowView {
        guard let present = table.pointee.presentTable, !present.slots[slot].isAbsent else { return fallback }
        let row = RowView(trusted: base, byteCount: Int(byteCount), table: present, hasExtension: hasExtension)
        return row.isNil(slot) ? fallback : row
    }

    @usableFromInline @inline(never)
    func isNilWithoutBit(_ slot: Int) -> Bool {
        let access = table.slots[slot]
        if access.kind == SlotAccess.toManyKind { return false }
        guard access.isAbsent else { return access.kind == SlotAccess.toOneKind && toOne(slot) == 0 }
        let own = fallback.table.slots[slot]
        if own.kind == SlotAccess.toOneKind { return fallback.toOne(slot) == 0 }
        return fallback.base.load(fromByteOffset: Int(own.nilOffset), as: UInt8.self) & own.nilMask != 0
    }

    @usableFromInline @inline(never)
    func narrowInt64(_ slot: Int) -> Int64 {
        let access = table.slots[slot]
        if access.isAbsent { return source(of: slot).int64(slot) }
        let field = base + Int(access.offset)
        switch (access.width, access.isSigned) {
        case (1, true): return Int64(field.load(as: Int8.self))
        case (2, true): return Int64(field.loadUnaligned(as: Int16.self))
        case (4, true): return Int64(field.loadUnaligned(as: Int32.self))
        case (1, false): return Int64(field.load(as: UInt8.self))
        case (2, false): return Int64(field.loadUnaligned(as: UInt16.self))
        case (4, false): return Int64(field.loadUnaligned(as: UInt32.self))
        default: return field.loadUnaligned(as: Int64.self)
        }
    }

    @usableFromInline @inline(never)
    func widenedDouble(_ slot: Int) -> Double {
        let access = table.slots[slot]
        guard access.isAbsent else {
            return Double(base.loadUnaligned(fromByteOffset: Int(access.offset), as: Float.self))
        }
        return source(of: slot).double(slot)
    }

    @usableFromInline @inline(never)
    func absentFloat(_ slot: Int) -> Float { source(of: slot).float(slot) }

    @usableFromInline @inline(never)
    func absentBool(_ slot: Int) -> Bool { source(of: slot).bool(slot) }

    @usableFromInline @inline(never)
    func absentUUID(_ slot: Int) -> (UInt64, UInt64) { source(of: slot).uuid(slot) }

    @usableFromInline @inline(never)
    func absentToOne(_ slot: Int) -> UInt64 { fallback.toOne(slot) }

    @usableFromInline @inline(never)
    func absentVariable(_ slot: Int) -> UnsafeRawBufferPointer { source(of: slot).variable(slot) }

    @usableFromInline @inline(never)
    func absentVariableFlags(_ slot: Int) -> VariableFlags { source(of: slot).variableFlags(slot) }
}

extension BlobReference {
    @usableFromInline
    init(reading bytes: UnsafeRawBufferPointer) {
        // Safe because the check of the row, or the draft's setter, gave every reference 24 bytes.
        let base = bytes.baseAddress.unsafelyUnwrapped
        self.init(
            identifier: base.loadUnaligned(as: UInt64.self),
            byteCount: base.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        )
    }
}
