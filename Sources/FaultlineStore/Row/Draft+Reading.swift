/// The getters of a row, for unsaved values.
extension Draft {
    @inlinable @inline(__always)
    package func isNil(_ slot: Int) -> Bool { fixedView.isNil(slot) }

    @inlinable @inline(__always)
    package func int64(_ slot: Int) -> Int64 { fixedView.int64(slot) }

    @inlinable @inline(__always)
    package func uint64(_ slot: Int) -> UInt64 { fixedView.uint64(slot) }

    @inlinable @inline(__always)
    package func double(_ slot: Int) -> Double { fixedView.double(slot) }

    @inlinable @inline(__always)
    package func float(_ slot: Int) -> Float { fixedView.float(slot) }

    @inlinable @inline(__always)
    package func bool(_ slot: Int) -> Bool { fixedView.bool(slot) }

    /// Seconds since 1 January 2001 UTC.
    @inlinable @inline(__always)
    package func date(_ slot: Int) -> Double { fixedView.double(slot) }

    @inlinable @inline(__always)
    package func uuid(_ slot: Int) -> (UInt64, UInt64) { fixedView.uuid(slot) }

    package func decimal(_ slot: Int) -> StoredDecimal { fixedView.decimal(slot) }

    /// Identifier of the target; 0 for nil.
    @inlinable @inline(__always)
    package func toOne(_ slot: Int) -> UInt64 { fixedView.toOne(slot) }

    /// The bytes of a variable value; valid until the next setter or `destroy()`.
    package func variable(_ slot: Int) -> UnsafeRawBufferPointer { value(ofOrdinal: ordinal(of: table.slots[slot])) }

    package func variableFlags(_ slot: Int) -> VariableFlags {
        let word = flagsWord(ordinal(of: table.slots[slot])).pointee
        return VariableFlags(rawValue: word & ~VariableEnd.detachedFlag)
    }

    package func string(_ slot: Int) -> String { String(decoding: variable(slot), as: UTF8.self) }

    package func blobReference(_ slot: Int) -> BlobReference? {
        guard variableFlags(slot).contains(.blob) else { return nil }
        return BlobReference(reading: variable(slot))
    }

    /// The order key given to the slot; nil: the default one.
    package func orderKey(_ slot: Int) -> UInt64? { header.pointee.orderKeys?.pointee.key(ofSlot: slot) }

    /// Whether two drafts of one layout have the same bytes in a slot of an attribute.
    package func hasSameBytes(as other: Draft, slot: Int) -> Bool {
        let access = table.slots[slot]
        if isNil(slot) != other.isNil(slot) { return false }
        if access.isVariable {
            let (own, others) = (variable(slot), other.variable(slot))
            return own.count == others.count && own.elementsEqual(others)
        }
        let range = Int(access.offset)..<Int(access.offset) + Int(access.width)
        return range.allSatisfy {
            fixedArea.load(fromByteOffset: $0, as: UInt8.self)
                == other.fixedArea.load(fromByteOffset: $0, as: UInt8.self)
        }
    }

    @inline(__always)
    func value(ofOrdinal ordinal: Int) -> UnsafeRawBufferPointer {
        if flagsWord(ordinal).pointee & VariableEnd.detachedFlag != 0 { return detached(ordinal).pointee }
        let place = place(ordinal).pointee
        return UnsafeRawBufferPointer(start: block + Int(place.offset), count: Int(place.byteCount))
    }
}
