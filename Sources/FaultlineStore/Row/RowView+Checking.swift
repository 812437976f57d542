extension RowView {
    /// Checks a row once, so that its getters need not: sizes, ends, flags, Booleans, nil bits, the extension.
    ///
    /// Text is not validated: it was validated when it was written, and the record's checksum has been verified. Nil if
    /// the bytes have no address, or are not a row of the layout.
    ///
    /// - Parameters:
    ///   - row: All bytes of the row, with its extension.
    ///   - layout: The layout in the record.
    ///   - hasExtension: Record flag 3.
    @inlinable @inline(__always)
    package init?(checking row: UnsafeRawBufferPointer, layout: RowLayout, hasExtension: Bool) {
        self.init(checking: row, table: layout.table, hasExtension: hasExtension)
    }

    /// Checks a row of an older layout, and views it by the slots of the newer one.
    @inlinable @inline(__always)
    package init?(checking row: UnsafeRawBufferPointer, adapter: RowAdapter, hasExtension: Bool) {
        self.init(checking: row, table: adapter.table, hasExtension: hasExtension)
    }

    /// Checks a row of the layout of the table's rows.
    @inlinable @inline(__always)
    package init?(checking row: UnsafeRawBufferPointer, table: UnsafePointer<LayoutTable>, hasExtension: Bool) {
        guard let base = row.baseAddress,
            RowView.isSound(base, byteCount: row.count, table: table, hasExtension: hasExtension)
        else { return nil }
        self.init(trusted: base, byteCount: row.count, table: table, hasExtension: hasExtension)
    }

    /// Whether bytes are a row in the form that a draft writes.
    ///
    /// - Parameters:
    ///   - base: The first byte of the row.
    ///   - byteCount: Bytes of the row, with its extension.
    ///   - table: The table of the record's layout, or of an adapter from it.
    ///   - hasExtension: Record flag 3.
    /// - Returns: Whether getters may trust the row.
    @usableFromInline
    package static func isSound(
        _ base: UnsafeRawPointer,
        byteCount: Int,
        table: UnsafePointer<LayoutTable>,
        hasExtension: Bool
    ) -> Bool {
        // Safe because `LayoutTableMemory` gives every table a physical layout.
        let layout = table.pointee.physical.unsafelyUnwrapped
        let fixed = Int(layout.pointee.fixedByteCount)
        guard byteCount >= fixed, byteCount <= Int(UInt32.max) else { return false }

        // Ends have 28 bits, so the top bit of a difference shows that an end lies before the previous one.
        var previous: UInt32 = 0
        var faults: UInt32 = 0
        var word = base + Int(layout.pointee.endsOffset)
        let wordsEnd = word + Int(layout.pointee.variableCount) * 4
        while word < wordsEnd {
            let value = word.loadUnaligned(as: UInt32.self)
            let end = value & VariableEnd.endMask
            faults |= end &- previous | (value & VariableEnd.detachedFlag) << 3
            if value & VariableEnd.blobFlag != 0, end &- previous != UInt32(VariableEnd.blobReferenceByteCount) {
                return false
            }
            previous = end
            word += 4
        }
        let end = fixed + Int(previous)
        guard faults >> 31 == 0, end <= byteCount else { return false }

        let fields = layout.pointee.flagFields.unsafelyUnwrapped
        for index in 0..<Int(layout.pointee.flagFieldCount) {
            let byte = base.load(fromByteOffset: Int(fields[index]), as: UInt8.self)
            guard byte <= (index < Int(layout.pointee.boolCount) ? 1 : 3) else { return false }
        }
        if layout.pointee.nilByteCount > 0, !areNilBitsSound(base, layout) { return false }
        return hasExtension ? isExtensionSound(base, from: end, to: byteCount, layout) : byteCount == end
    }

    @inline(never)
    private static func isExtensionSound(
        _ base: UnsafeRawPointer,
        from end: Int,
        to byteCount: Int,
        _ layout: UnsafePointer<LayoutTable>
    ) -> Bool {
        let rest = byteCount - end
        guard rest >= RowExtension.sizeByteCount else { return false }
        let size = Int(base.loadUnaligned(fromByteOffset: byteCount - RowExtension.sizeByteCount, as: UInt32.self))
        guard size == rest - RowExtension.sizeByteCount, size % RowExtension.entryByteCount == 0 else { return false }
        return RowExtension(entries: base + end, count: size / RowExtension.entryByteCount)
            .isSound(slotCount: layout.pointee.slotCount)
    }

    /// Whether bits without a column are clear, and nil values are zero or empty.
    @inline(__always)
    private static func areNilBitsSound(_ base: UnsafeRawPointer, _ layout: UnsafePointer<LayoutTable>) -> Bool {
        let bits = base + Int(layout.pointee.nilBitsOffset)
        let last = Int(layout.pointee.nilByteCount) - 1
        var all: UInt8 = 0
        for index in 0...last { all |= bits.load(fromByteOffset: index, as: UInt8.self) }
        if all == 0 { return true }
        guard bits.load(fromByteOffset: last, as: UInt8.self) & layout.pointee.unusedNilMask == 0 else { return false }
        return areNilFieldsZero(base, layout)
    }

    /// Whether the fields of nil values are zero, and nil variable values empty.
    @inline(never)
    private static func areNilFieldsZero(_ base: UnsafeRawPointer, _ physical: UnsafePointer<LayoutTable>) -> Bool {
        let row = RowView(trusted: base, table: physical)
        for slot in 0..<Int(physical.pointee.slotCount) {
            let access = physical.slots[slot]
            guard access.nilMask != 0, row.isNil(slot) else { continue }
            if access.isVariable {
                guard row.variable(slot).isEmpty, row.variableFlags(slot).rawValue == 0 else { return false }
            } else {
                for index in 0..<Int(access.width)
                where base.load(fromByteOffset: Int(access.offset) + index, as: UInt8.self) != 0 { return false }
            }
        }
        return true
    }
}
