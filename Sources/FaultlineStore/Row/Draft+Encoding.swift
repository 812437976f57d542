internal import FaultlineModel

extension Draft {
    /// Whether the row has an extension: record flag 3.
    package var hasExtension: Bool { (header.pointee.orderKeys?.pointee.count ?? 0) > 0 }

    /// Bytes of the row that `encode(into:)` writes.
    package var encodedByteCount: Int {
        let table = table
        var byteCount = Int(table.pointee.fixedByteCount)
        for ordinal in 0..<Int(table.pointee.variableCount) { byteCount += value(ofOrdinal: ordinal).count }
        if let keys = header.pointee.orderKeys, keys.pointee.count > 0 { byteCount += keys.pointee.encodedByteCount }
        return byteCount
    }

    /// Calls `body` with the values that belong outside of the row, before the row is encoded.
    ///
    /// The body passes each to the blob area; afterwards the caller replaces them by references with
    /// `setBlobReference`. The bytes are valid until the draft changes.
    ///
    /// Values of the slots in `kept` stay in the row at any size.
    package func valuesOutOfRow<Failure: Error>(
        layout: RowLayout,
        keeping kept: Set<Int> = [],
        _ body: (_ slot: Int, _ bytes: UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        // The number of bytes in the block does not include values with separate allocations.
        let mayBeExternal = header.pointee.used - Int(table.pointee.draftValuesOffset) >= layout.externalByteCountMin
        guard mayBeExternal || hasDetachedValue else { return }
        for (slot, column) in layout.columns.enumerated() where column.isVariable {
            let value = value(ofOrdinal: column.ordinal)
            guard !value.isEmpty, value.count >= column.externalThreshold, !kept.contains(slot) else { continue }
            guard flagsWord(column.ordinal).pointee & VariableEnd.blobFlag == 0 else { continue }
            try body(slot, value)
        }
    }

    private var hasDetachedValue: Bool {
        for ordinal in 0..<variableCount where flagsWord(ordinal).pointee & VariableEnd.detachedFlag != 0 {
            return true
        }
        return false
    }

    /// Writes the row.
    ///
    /// - Parameter row: Room for `encodedByteCount` bytes.
    /// - Returns: Bytes written.
    package func encode(into row: UnsafeMutableRawPointer) -> Int {
        let table = table
        let fixed = Int(table.pointee.fixedByteCount)
        let count = Int(table.pointee.variableCount)
        row.copyMemory(from: fixedArea, byteCount: fixed)
        var end = 0
        if count > 0 {
            let words = row + Int(table.pointee.endsOffset)
            let values = row + fixed
            // Values set in the order of their slots have the row's order, and are copied at once.
            let first = Int(place(0).pointee.offset)
            var isInOrder = true
            for ordinal in 0..<count {
                let flags = words.loadUnaligned(fromByteOffset: ordinal * 4, as: UInt32.self)
                let place = place(ordinal).pointee
                if flags & VariableEnd.detachedFlag != 0 || (place.byteCount > 0 && Int(place.offset) != first + end) {
                    isInOrder = false
                    break
                }
                end += Int(place.byteCount)
                words.storeBytes(
                    of: flags | UInt32(truncatingIfNeeded: end),
                    toByteOffset: ordinal * 4,
                    as: UInt32.self
                )
            }
            if isInOrder {
                values.copyMemory(from: block + first, byteCount: end)
            } else {
                end = encodeScattered(into: row)
            }
        }
        guard hasExtension, let keys = header.pointee.orderKeys else { return fixed + end }
        keys.pointee.write(to: row + fixed + end)
        return fixed + end + keys.pointee.encodedByteCount
    }

    /// Writes end words and values one by one; returns the bytes of the values.
    @inline(never)
    private func encodeScattered(into row: UnsafeMutableRawPointer) -> Int {
        let words = row + Int(table.pointee.endsOffset)
        let values = row + Int(table.pointee.fixedByteCount)
        var end = 0
        for ordinal in 0..<variableCount {
            let value = value(ofOrdinal: ordinal)
            precondition(
                value.count <= VariableEnd.byteCountMax - end,
                "The ends of variable values have 28 bits: give large values to the blob area first."
            )
            if let source = value.baseAddress { (values + end).copyMemory(from: source, byteCount: value.count) }
            end += value.count
            let flags = flagsWord(ordinal).pointee & ~VariableEnd.detachedFlag
            words.storeBytes(of: flags | UInt32(end), toByteOffset: ordinal * 4, as: UInt32.self)
        }
        return end
    }

    // MARK: From rows

    /// Copies a row of the draft's own layout.
    mutating func copyWhole(_ row: RowView) {
        let table = table
        fixedArea.copyMemory(from: row.base, byteCount: Int(table.pointee.fixedByteCount))
        let count = variableCount
        guard count > 0 else { return }
        let values = row.base + Int(table.pointee.fixedByteCount)
        let total = VariableEnd(rawValue: flagsWord(count - 1).pointee).end
        let offset = header.pointee.used
        guard total < Self.detachedByteCountMin, offset + total <= header.pointee.capacity else {
            return copyValues(values)
        }
        (block + offset).copyMemory(from: values, byteCount: total)
        header.pointee.used = offset + total
        var start = 0
        for ordinal in 0..<count {
            let word = VariableEnd(rawValue: flagsWord(ordinal).pointee)
            flagsWord(ordinal).pointee = word.flags.rawValue
            place(ordinal).pointee = DraftPlace(
                offset: UInt32(truncatingIfNeeded: offset + start),
                byteCount: UInt32(truncatingIfNeeded: word.end - start)
            )
            start = word.end
        }
    }

    /// Copies a row's variable values one by one; the end words of the row are in the fixed area.
    @inline(never)
    private mutating func copyValues(_ values: UnsafeRawPointer) {
        var start = 0
        for ordinal in 0..<variableCount {
            let word = VariableEnd(rawValue: flagsWord(ordinal).pointee)
            flagsWord(ordinal).pointee = 0
            let room = room(forOrdinal: ordinal, byteCount: word.end - start, flags: word.flags.rawValue)
            room.copyMemory(from: values + start, byteCount: word.end - start)
            start = word.end
        }
    }

    /// Copies one value of a row of an older layout.
    mutating func copyValue(of row: RowView, slot: Int) { copyValue(of: row, slot: slot, into: slot) }

    /// Copies one value of a row of another layout, whose column is of the same kind; copies the reference of a value
    /// outside of the row.
    package mutating func copyValue(of row: RowView, slot: Int, into target: Int) {
        let access = table.slots[target]
        // A to-many relationship has no bytes in the row.
        guard access.kind != SlotAccess.toManyKind else { return }
        if row.isNil(slot) { return setNil(target) }
        guard let kind = ColumnKind(rawValue: access.kind) else { return }
        switch kind {
        case .attribute(.bool): setBool(target, row.bool(slot))
        case .attribute(.float): setFloat(target, row.float(slot))
        case .attribute(.double), .attribute(.date): setDouble(target, row.double(slot))
        case .attribute(.uuid): setUUID(target, row.uuid(slot))
        case .attribute(.decimal): setDecimal(target, row.decimal(slot))
        case .toOne: setToOne(target, row.toOne(slot))
        case .link: setToOne(target, row.uint64(slot))
        case _ where kind.isInteger: setInt64(target, row.int64(slot))
        default:
            let value = row.variable(slot)
            let room = room(
                forOrdinal: ordinal(of: access),
                byteCount: value.count,
                flags: row.variableFlags(slot).rawValue
            )
            if let source = value.baseAddress { room.copyMemory(from: source, byteCount: value.count) }
            clearNil(access)
        }
    }

    private func clearNil(_ access: SlotAccess) {
        guard access.nilMask != 0 else { return }
        let byte = fixedArea + Int(access.nilOffset)
        byte.storeBytes(of: byte.load(as: UInt8.self) & ~access.nilMask, as: UInt8.self)
    }

    func copyOrderKeys(of row: RowView) {
        guard row.hasExtension else { return }
        for slot in 0..<Int(table.pointee.slotCount) where table.slots[slot].kind == SlotAccess.toOneKind {
            if let key = row.orderKey(slot) { setOrderKey(slot, key) }
        }
    }
}
