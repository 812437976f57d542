extension Draft {
    /// Takes over one value of a stored row; that is no change.
    package mutating func renew(_ slot: Int, from row: RowView) {
        let mask = header.pointee.changedMask
        copyValue(of: row, slot: slot)
        header.pointee.changedMask = mask
        // What that row has in the other slots was not looked at.
        header.pointee.isOfPlainRow = false
    }

    /// The changed slots of this draft over another stored row, marked as they are.
    package func rebased(onto row: RowView, layout: RowLayout) -> Draft {
        var merged = Draft.create(copying: row, layout: layout)
        merged.layOver(self, changed: changedMask, layout: layout)
        merged.header.pointee.changedMask = changedMask
        return merged
    }

    /// Takes over the changed slots of another draft of the same layout, order keys included; or just one of them.
    mutating func layOver(_ other: Draft, changed: UInt64, layout: RowLayout, only: Int? = nil) {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(other.encodedByteCount, 1), alignment: 16)
        defer { bytes.deallocate() }
        // Safe because an allocation of at least one byte has an address.
        let count = other.encode(into: bytes.baseAddress.unsafelyUnwrapped)
        let row = RowView(
            trusted: UnsafeRawPointer(bytes.baseAddress.unsafelyUnwrapped), byteCount: count, table: layout.table,
            hasExtension: other.hasExtension)
        for slot in 0..<layout.columns.count where changed & SlotMask.bit(slot) != 0 && slot == only ?? slot {
            copyValue(of: row, slot: slot)
            if layout.columns[slot].kind == .toOne { setOrderKey(slot, other.orderKey(slot)) }
        }
    }
}
