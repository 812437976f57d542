extension Draft {
    /// Copies one value of a stored row; that is no change.
    package mutating func renew(_ slot: Int, from row: RowView) {
        withoutMarking(slot) { $0.copyValue(of: row, slot: slot) }
        // The other slots of that row were not examined.
        header.pointee.isOfPlainRow = false
    }

    /// Applies the changed slots of this draft to another stored row, with their marks.
    package func rebased(onto row: RowView, layout: RowLayout) -> Draft {
        var merged = Draft.create(copying: row, layout: layout)
        merged.layOver(self, layout: layout)
        merged.copyMarks(of: self)
        return merged
    }

    /// Copies the changed slots of another draft of the same layout, with order keys.
    mutating func layOver(_ other: Draft, layout: RowLayout) {
        takeValues(of: other, layout.columns.indices.lazy.filter(other.isChanged), layout)
    }

    /// Copies one attribute's value from another draft of the same layout.
    package mutating func takeValue(of other: Draft, slot: Int, layout: RowLayout) {
        takeValues(of: other, CollectionOfOne(slot), layout)
        mark(slot)
    }

    /// Another draft with the values of this one, and their marks, by the slots of another layout.
    ///
    /// - Parameters:
    ///   - layout: The other layout.
    ///   - slots: For each slot of this draft, that of the other one.
    /// - Returns: The other draft, which is the caller's to destroy.
    package func moved(to layout: RowLayout, _ slots: [Int]) -> Draft {
        moved(to: layout, pairs: slots.enumerated().map { ($0.offset, $0.element) })
    }

    /// The way back: for each slot of the other layout, that of this draft.
    package func moved(to layout: RowLayout, from slots: [Int]) -> Draft {
        moved(to: layout, pairs: slots.enumerated().map { ($0.element, $0.offset) })
    }

    private func moved(to layout: RowLayout, pairs: [(own: Int, target: Int)]) -> Draft {
        var moved = Draft.create(layout: layout)
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(encodedByteCount, 1), alignment: 16)
        defer { bytes.deallocate() }
        // Safe because an allocation of at least one byte has an address.
        let count = encode(into: bytes.baseAddress.unsafelyUnwrapped)
        let row = RowView(
            trusted: UnsafeRawPointer(bytes.baseAddress.unsafelyUnwrapped), byteCount: count, table: table,
            hasExtension: hasExtension)
        for (own, target) in pairs where layout.columns[target].kind != .toMany {
            moved.copyValue(of: row, slot: own, into: target)
            if layout.columns[target].kind == .toOne { moved.setOrderKey(target, orderKey(own)) }
        }
        moved.clearMarks()
        for (own, target) in pairs where isChanged(own) { moved.mark(target) }
        return moved
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
