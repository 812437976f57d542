extension Draft {
    /// Takes over one value of a stored row; that is no change.
    package mutating func renew(_ slot: Int, from row: RowView) {
        withoutMarking(slot) { $0.copyValue(of: row, slot: slot) }
        // What that row has in the other slots was not looked at.
        header.pointee.isOfPlainRow = false
    }

    /// The changed slots of this draft over another stored row, marked as they are.
    package func rebased(onto row: RowView, layout: RowLayout) -> Draft {
        var merged = Draft.create(copying: row, layout: layout)
        merged.layOver(self, layout: layout)
        merged.copyMarks(of: self)
        return merged
    }

    /// Takes over the changed slots of another draft of the same layout, order keys included.
    mutating func layOver(_ other: Draft, layout: RowLayout) {
        takeValues(of: other, layout.columns.indices.lazy.filter(other.isChanged), layout)
    }

    /// Takes one attribute's value over from another draft of the same layout.
    package mutating func takeValue(of other: Draft, slot: Int, layout: RowLayout) {
        takeValues(of: other, CollectionOfOne(slot), layout)
        mark(slot)
    }

    private mutating func takeValues(of other: Draft, _ slots: some Sequence<Int>, _ layout: RowLayout) {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(other.encodedByteCount, 1), alignment: 16)
        defer { bytes.deallocate() }
        // Safe because an allocation of at least one byte has an address.
        let count = other.encode(into: bytes.baseAddress.unsafelyUnwrapped)
        let row = RowView(
            trusted: UnsafeRawPointer(bytes.baseAddress.unsafelyUnwrapped), byteCount: count, table: layout.table,
            hasExtension: other.hasExtension)
        for slot in slots {
            copyValue(of: row, slot: slot)
            if layout.columns[slot].kind == .toOne { setOrderKey(slot, other.orderKey(slot)) }
        }
    }
}
