/// The position of one slot in a row: all data for a getter, in one load of 16 bytes or less.
@usableFromInline
package struct SlotAccess {
    /// Bytes from the start of the row to the field, or to the end word of a variable value.
    @usableFromInline package let offset: UInt32
    /// Bytes from the start of the row to the byte with the nil bit.
    @usableFromInline package let nilOffset: UInt32
    /// For a variable slot, the offset of the variable bytes; for a fixed one, its slot in the row's own layout.
    @usableFromInline package let origin: UInt32
    /// Raw value of the column's kind.
    @usableFromInline package let kind: UInt8
    /// Bytes of the field; 0: the row's layout lacks the column, and the table's fallback row has the value.
    @usableFromInline package let width: UInt8
    /// Bit of the byte at `nilOffset`; 0 if the column is not optional.
    @usableFromInline package let nilMask: UInt8
    /// 1 for a variable slot whose value is the first of the variable bytes, else 0.
    @usableFromInline package let isFirst: UInt8

    static let toOneKind: UInt8 = 32
    static let toManyKind: UInt8 = 34
    static let firstVariableKind: UInt8 = 15
    static let lastVariableKind: UInt8 = 18

    init(
        offset: UInt32,
        nilOffset: UInt32,
        origin: UInt32,
        kind: UInt8,
        width: UInt8,
        nilMask: UInt8,
        isFirst: UInt8
    ) {
        self.offset = offset
        self.nilOffset = nilOffset
        self.origin = origin
        self.kind = kind
        self.width = width
        self.nilMask = nilMask
        self.isFirst = isFirst
    }

    @inlinable @inline(__always)
    package var isAbsent: Bool { width == 0 }

    package var isVariable: Bool { kind >= Self.firstVariableKind && kind <= Self.lastVariableKind }

    /// Whether the stored integer has a sign.
    var isSigned: Bool { kind <= 5 }
}

/// All data for reading rows of one layout, flat, in memory that the layout owns: no reference counting.
///
/// The accesses of its slots follow it in memory.
@usableFromInline
package struct LayoutTable {
    package var fixedByteCount: UInt32
    package var variableCount: UInt32
    package var endsOffset: UInt32
    package var nilBitsOffset: UInt32
    package var nilByteCount: UInt32
    package var slotCount: UInt32
    /// Number of the layout in the registry.
    package var number: UInt16
    /// The bits of the last nil byte that belong to no column.
    var unusedNilMask: UInt8
    /// Bytes of a draft before its variable values.
    var draftValuesOffset: UInt32
    /// Bytes from the start of a draft to the positions of its variable values.
    var draftPlacesOffset: UInt32
    /// The layout of the rows: this table's own, or an older one if the slots are a newer layout's.
    var physical: UnsafePointer<LayoutTable>?
    /// Values of slots that the rows lack, with the table to read them by.
    var fallbackRow: UnsafeRawPointer?
    var fallbackTable: UnsafePointer<LayoutTable>?
    /// Reads slots that were optional and no longer are, if the row has a value; nil if there are none.
    var presentTable: UnsafePointer<LayoutTable>?
    /// A new draft's first bytes: zeros, and the nil bits set.
    var draftTemplate: UnsafeRawPointer?
    /// The layout that owns this table, or from which an adapter's table was made.
    ///
    /// Not retained: layouts outlive their tables.
    var layout: Unmanaged<RowLayout>?
    /// Offsets of bytes with a limited range of values: Booleans first, then the flags of decimals.
    var flagFields: UnsafePointer<UInt32>?
    var flagFieldCount: UInt32
    var boolCount: UInt32

    @usableFromInline package static var slotsOffset: Int {
        @inlinable @inline(__always) get { 128 }
    }
}

extension UnsafePointer where Pointee == LayoutTable {
    /// The accesses of the table's slots.
    @inlinable @inline(__always)
    package var slots: UnsafePointer<SlotAccess> {
        // Safe because every table is allocated by `LayoutTableMemory`, which places the accesses there.
        UnsafeRawPointer(self).advanced(by: LayoutTable.slotsOffset).assumingMemoryBound(to: SlotAccess.self)
    }
}

/// One allocation with a table and the accesses of its slots.
// Safe because the memory is written before its owner is shared, and never after.
struct LayoutTableMemory: ~Copyable, @unchecked Sendable {
    let table: UnsafePointer<LayoutTable>

    init(_ header: LayoutTable, slots: [SlotAccess]) {
        precondition(MemoryLayout<LayoutTable>.size <= LayoutTable.slotsOffset, "The accesses start behind the table.")
        precondition(MemoryLayout<SlotAccess>.stride == 16, "An access takes 16 bytes.")
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: LayoutTable.slotsOffset + slots.count * MemoryLayout<SlotAccess>.stride,
            alignment: 16
        )
        let table = memory.initializeMemory(as: LayoutTable.self, to: header)
        let first = (memory + LayoutTable.slotsOffset).bindMemory(to: SlotAccess.self, capacity: slots.count)
        for (index, access) in slots.enumerated() { (first + index).initialize(to: access) }
        if header.physical == nil { table.pointee.physical = UnsafePointer(table) }
        self.table = UnsafePointer(table)
    }

    /// Sets the layout that owns the table, before it is shared.
    func setLayout(_ layout: RowLayout) {
        UnsafeMutablePointer(mutating: table).pointee.layout = Unmanaged.passUnretained(layout)
    }

    deinit { UnsafeMutableRawPointer(mutating: UnsafeRawPointer(table)).deallocate() }
}
