extension Draft {
    /// Marks the slot, and clears its nil bit.
    @inlinable @inline(__always)
    func begin(_ slot: Int) -> SlotAccess {
        mark(slot)
        let access = table.slots[slot]
        if access.nilMask != 0 {
            let byte = fixedArea + Int(access.nilOffset)
            byte.storeBytes(of: byte.load(as: UInt8.self) & ~access.nilMask, as: UInt8.self)
        }
        return access
    }

    @inlinable @inline(__always)
    package func setInt64(_ slot: Int, _ value: Int64) {
        let access = begin(slot)
        if access.width == 8 {
            fixedArea.storeBytes(of: value, toByteOffset: Int(access.offset), as: Int64.self)
        } else {
            storeNarrow(value, access)
        }
    }

    @usableFromInline @inline(never)
    func storeNarrow(_ value: Int64, _ access: SlotAccess) {
        let field = fixedArea + Int(access.offset)
        switch (access.width, access.isSigned) {
        case (1, true): field.storeBytes(of: Int8(exactly: value).orRefuse, as: Int8.self)
        case (2, true): field.storeBytes(of: Int16(exactly: value).orRefuse, as: Int16.self)
        case (4, true): field.storeBytes(of: Int32(exactly: value).orRefuse, as: Int32.self)
        case (1, false): field.storeBytes(of: UInt8(exactly: value).orRefuse, as: UInt8.self)
        case (2, false): field.storeBytes(of: UInt16(exactly: value).orRefuse, as: UInt16.self)
        default: field.storeBytes(of: UInt32(exactly: value).orRefuse, as: UInt32.self)
        }
    }

    @inlinable @inline(__always)
    package func setUInt64(_ slot: Int, _ value: UInt64) { setInt64(slot, Int64(bitPattern: value)) }

    @inlinable @inline(__always)
    package func setDouble(_ slot: Int, _ value: Double) {
        let access = begin(slot)
        fixedArea.storeBytes(of: value, toByteOffset: Int(access.offset), as: Double.self)
    }

    @inlinable @inline(__always)
    package func setFloat(_ slot: Int, _ value: Float) {
        let access = begin(slot)
        fixedArea.storeBytes(of: value, toByteOffset: Int(access.offset), as: Float.self)
    }

    @inlinable @inline(__always)
    package func setBool(_ slot: Int, _ value: Bool) {
        let access = begin(slot)
        fixedArea.storeBytes(of: value ? 1 : 0, toByteOffset: Int(access.offset), as: UInt8.self)
    }

    /// Sets a date slot to seconds since 1 January 2001 UTC.
    @inlinable @inline(__always)
    package func setDate(_ slot: Int, _ value: Double) { setDouble(slot, value) }

    @inlinable @inline(__always)
    package func setUUID(_ slot: Int, _ value: (UInt64, UInt64)) {
        let access = begin(slot)
        fixedArea.storeBytes(of: value.0, toByteOffset: Int(access.offset), as: UInt64.self)
        fixedArea.storeBytes(of: value.1, toByteOffset: Int(access.offset) + 8, as: UInt64.self)
    }

    package func setDecimal(_ slot: Int, _ value: StoredDecimal) {
        value.write(to: fixedArea + Int(begin(slot).offset))
    }

    /// Sets a to-one slot, or a link's, to the identifier of the target; 0 for nil.
    @inlinable @inline(__always)
    package func setToOne(_ slot: Int, _ value: UInt64) {
        let access = begin(slot)
        fixedArea.storeBytes(of: value, toByteOffset: Int(access.offset), as: UInt64.self)
    }

    /// Sets a value of a text slot.
    package mutating func setString(_ slot: Int, _ value: String) {
        let isKnownASCII = value.utf8Span.isKnownASCII
        var draft = self
        let isDone: Void? = value.utf8.withContiguousStorageIfAvailable { text in
            draft.setText(slot, UnsafeRawBufferPointer(text), isKnownASCII: isKnownASCII)
        }
        if isDone == nil {
            var copy = value
            copy.withUTF8 { draft.setText(slot, UnsafeRawBufferPointer($0), isKnownASCII: isKnownASCII) }
        }
        self = draft
    }

    /// Sets a value of a text slot from valid UTF-8.
    package mutating func setUTF8(_ slot: Int, _ text: UnsafeRawBufferPointer) {
        setText(slot, text, isKnownASCII: false)
    }

    @inline(__always)
    private mutating func setText(_ slot: Int, _ text: UnsafeRawBufferPointer, isKnownASCII: Bool) {
        let access = begin(slot)
        let flags =
            isKnownASCII ? VariableEnd.asciiFlag | VariableEnd.normalFlag : StoredText.flags(of: text).rawValue
        let room = room(forOrdinal: ordinal(of: access), byteCount: text.count, flags: flags)
        if let source = text.baseAddress { room.copyMemory(from: source, byteCount: text.count) }
    }

    /// Sets the bytes of a data or codable slot.
    package mutating func setBytes(_ slot: Int, _ bytes: UnsafeRawBufferPointer) {
        let access = begin(slot)
        let room = room(forOrdinal: ordinal(of: access), byteCount: bytes.count, flags: 0)
        if let source = bytes.baseAddress { room.copyMemory(from: source, byteCount: bytes.count) }
    }

    /// Replaces a value that was moved to the blob area by a reference.
    ///
    /// Flags of text and marks of changes stay as they are.
    package mutating func setBlobReference(_ slot: Int, identifier: UInt64, byteCount: UInt64) {
        withoutMarking(slot) { draft in
            let ordinal = draft.ordinal(of: draft.begin(slot))
            let kept = draft.flagsWord(ordinal).pointee & (VariableEnd.asciiFlag | VariableEnd.normalFlag)
            let room = draft.room(
                forOrdinal: ordinal, byteCount: VariableEnd.blobReferenceByteCount,
                flags: kept | VariableEnd.blobFlag)
            room.storeBytes(of: identifier, as: UInt64.self)
            room.storeBytes(of: byteCount, toByteOffset: 8, as: UInt64.self)
            room.storeBytes(of: 0, toByteOffset: 16, as: UInt64.self)
        }
    }

    /// Makes an optional slot or a to-one nil; another slot becomes zero or empty.
    package mutating func setNil(_ slot: Int) {
        let access = begin(slot)
        if access.isVariable {
            _ = room(forOrdinal: ordinal(of: access), byteCount: 0, flags: 0)
        } else {
            (fixedArea + Int(access.offset)).initializeMemory(
                as: UInt8.self,
                repeating: 0,
                count: Int(access.width)
            )
        }
        guard access.nilMask != 0 else { return }
        let byte = fixedArea + Int(access.nilOffset)
        byte.storeBytes(of: byte.load(as: UInt8.self) | access.nilMask, as: UInt8.self)
    }

    /// Sets the object's order key in the collection whose inverse is this to-one slot; nil: the default key.
    package func setOrderKey(_ slot: Int, _ key: UInt64?) {
        mark(slot)
        if header.pointee.orderKeys == nil {
            guard key != nil else { return }
            header.pointee.orderKeys = DraftOrderKeys.create()
        }
        header.pointee.orderKeys?.pointee.set(key, slot: slot)
    }
}

extension Optional where Wrapped: FixedWidthInteger {
    /// The number; traps if it is nil, because its property's declared type keeps it within the column's width.
    fileprivate var orRefuse: Wrapped {
        guard let self else { preconditionFailure("The integer is too large for its column.") }
        return self
    }
}
