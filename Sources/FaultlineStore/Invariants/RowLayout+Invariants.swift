package import FaultlineDisk

extension RowLayout {
    /// Checks the invariants that the type's comment lists.
    package func checkInvariants() throws(BrokenInvariant) {
        guard columns.indices.allSatisfy({ slot(ofColumn: columns[$0].number) == $0 }) else {
            throw broken("a column number occurs once", "its columns are \(columns.map(\.number))")
        }
        try checkFields()
        try checkOrder()
    }

    /// Checks that each byte of the fixed area belongs to at most one column, or to the nil bits.
    private func checkFields() throws(BrokenInvariant) {
        var isTaken = [Bool](repeating: false, count: fixedByteCount)
        for place in nilBitsOffset..<(nilBitsOffset + nilByteCount) { isTaken[place] = true }
        for (slot, column) in columns.enumerated() where column.width > 0 {
            let field = column.offset..<(column.offset + column.width)
            guard field.clamped(to: isTaken.indices) == field, !isTaken[field].contains(true),
                Int(slots[slot].offset) == column.offset, Int(slots[slot].width) == column.width
            else {
                throw broken(
                    "every field, end word and nil bit is in the fixed area, and no two overlap",
                    "column \(column.number) has the bytes \(field) of \(fixedByteCount)")
            }
            for place in field { isTaken[place] = true }
        }
    }

    /// Checks end words and nil bits.
    private func checkOrder() throws(BrokenInvariant) {
        let variable = columns.filter(\.isVariable).sorted { $0.offset < $1.offset }
        let bits = columns.map(\.nilBit).filter { $0 >= 0 }
        guard variable.map(\.ordinal) == Array(0..<variableCount),
            variable.indices.allSatisfy({ variable[$0].offset == endsOffset + 4 * $0 }),
            nilBitsOffset + nilByteCount == fixedByteCount, bits.sorted() == Array(bits.indices),
            nilByteCount == (bits.count + 7) / 8
        else {
            throw broken(
                "the end words are in the order of their ordinals, and the nil bits are the last bytes of the fixed "
                    + "area",
                "ordinals \(variable.map(\.ordinal)), nil bits \(bits) from byte \(nilBitsOffset) of \(fixedByteCount)")
        }
    }

    private func broken(_ rule: String, _ detail: String) -> BrokenInvariant {
        BrokenInvariant("RowLayout", rule, "layout \(number) of \(entityName): \(detail)")
    }
}
