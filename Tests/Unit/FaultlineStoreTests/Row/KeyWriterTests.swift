import FaultlineModel
import FaultlineStore
import Testing

struct KeyWriterTests {
    private func key(_ write: (inout KeyWriter) -> Void) -> [UInt8] {
        var writer = KeyWriter()
        write(&writer)
        return writer.withBytes { Array($0) }
    }

    private func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
        left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
    }

    private func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
        left == right ? 0 : left < right ? -1 : 1
    }

    /// The order of the design: −0 equals 0, not-a-number equals itself and comes last.
    private func order<Value: BinaryFloatingPoint>(_ left: Value, _ right: Value) -> Int {
        if left.isNaN || right.isNaN { return (left.isNaN ? 1 : 0) - (right.isNaN ? 1 : 0) }
        return left == right ? 0 : left < right ? -1 : 1
    }

    @Test func ordersIntegersAsNumbers() {
        var seed = RowSeed(21)
        for _ in 0..<5_000 {
            let (left, right) = (seed.int64(), seed.int64())

            #expect(order(key { $0.appendInt64(left) }, key { $0.appendInt64(right) }) == order(left, right))
            let (first, second) = (UInt64(bitPattern: left), UInt64(bitPattern: right))
            #expect(order(key { $0.appendUInt64(first) }, key { $0.appendUInt64(second) }) == order(first, second))
            #expect(
                order(key { $0.appendIdentifier(first) }, key { $0.appendIdentifier(second) }) == order(first, second)
            )
        }
    }

    @Test func ordersFloatingPointWithNotANumberLast() {
        var seed = RowSeed(22)
        for _ in 0..<5_000 {
            let (left, right) = (seed.double(), seed.double())

            #expect(
                order(key { $0.appendDouble(left) }, key { $0.appendDouble(right) }) == order(left, right),
                "\(left) \(right)"
            )
            let (first, second) = (Float(left), Float(right))
            #expect(order(key { $0.appendFloat(first) }, key { $0.appendFloat(second) }) == order(first, second))
        }
    }

    @Test func ordersTextAsSwiftDoes() {
        var seed = RowSeed(23)
        for _ in 0..<8_000 {
            let (left, right) = (seed.text(), seed.text())
            let expected = left == right ? 0 : ReferenceFilter.isLess(left, right) ? -1 : 1

            #expect(
                order(key { $0.appendString(left) }, key { $0.appendString(right) }) == expected,
                "\(Array(left.unicodeScalars)) \(Array(right.unicodeScalars))"
            )
        }
    }

    @Test func ordersTextWhereSwiftsOperatorContradictsItself() {
        #expect(order(key { $0.appendString("e\u{301}") }, key { $0.appendString("\u{E9}b") }) == -1)
    }

    @Test func ordersBytesAndIdentifiersOfSixteenBytes() {
        var seed = RowSeed(24)
        for _ in 0..<5_000 {
            let (left, right) = (seed.bytes(5), seed.bytes(5))

            #expect(
                order(
                    key { writer in left.withUnsafeBytes { writer.appendData($0) } },
                    key { writer in right.withUnsafeBytes { writer.appendData($0) } }
                )
                    == order(left, right)
            )
            let (first, second) = ((seed.next(), seed.next()), (seed.next(), seed.next()))
            let (firstBytes, secondBytes) = (
                withUnsafeBytes(of: first) { Array($0) }, withUnsafeBytes(of: second) { Array($0) }
            )
            #expect(
                order(key { $0.appendUUID(first) }, key { $0.appendUUID(second) }) == order(firstBytes, secondBytes)
            )
        }
    }

    @Test func ordersDecimalsByValue() {
        var seed = RowSeed(25)
        func decimal() -> StoredDecimal {
            if seed.chance(20) { return .notANumber }
            let zeros = seed.below(4)
            var mantissa = UInt128(seed.chance(2) ? seed.next() >> UInt64(seed.below(64)) : UInt64(seed.below(30)))
            for _ in 0..<zeros { mantissa *= 10 }
            return StoredDecimal(
                mantissa: mantissa,
                exponent: Int32(seed.below(7) - 3 - zeros),
                isNegative: seed.chance(2)
            )
        }
        /// Exact comparison by scaling both to the exponent −10.
        func scaled(_ value: StoredDecimal) -> (negative: Bool, mantissa: UInt128) {
            var mantissa = value.mantissa
            for _ in 0..<Int(value.exponent) + 10 { mantissa *= 10 }
            return (value.isNegative && mantissa != 0, mantissa)
        }
        for _ in 0..<5_000 {
            let (left, right) = (decimal(), decimal())
            let expected: Int
            if left.isNaN || right.isNaN {
                expected = (left.isNaN ? 1 : 0) - (right.isNaN ? 1 : 0)
            } else {
                let (first, second) = (scaled(left), scaled(right))
                if first.negative != second.negative {
                    expected = first.negative ? -1 : 1
                } else {
                    expected = order(first.mantissa, second.mantissa) * (first.negative ? -1 : 1)
                }
            }

            #expect(left.order(against: right) == expected, "\(left) \(right)")
            #expect(
                order(key { $0.appendDecimal(left) }, key { $0.appendDecimal(right) }) == expected,
                "\(left) \(right)"
            )
            if expected == 0 { #expect(left.hashValue == right.hashValue) }
        }
    }

    @Test func writesNoKeyThatBeginsAnother() {
        var seed = RowSeed(26)
        for _ in 0..<8_000 {
            let (left, right) = (seed.text(), seed.text())
            let (first, second) = (key { $0.appendString(left) }, key { $0.appendString(right) })
            if left != right { #expect(!second.starts(with: first)) }
            let (some, others) = (seed.bytes(4), seed.bytes(4))
            let third = key { writer in some.withUnsafeBytes { writer.appendData($0) } }
            let fourth = key { writer in others.withUnsafeBytes { writer.appendData($0) } }
            if some != others { #expect(!fourth.starts(with: third)) }
        }
    }

    @Test func putsNilBeforeEveryValueAndJoinsValuesInOrder() {
        var seed = RowSeed(27)
        let layout = SampleRows.everything()
        let (_, left) = SampleRows.randomRow(layout, &seed)
        for _ in 0..<300 {
            let (_, right) = SampleRows.randomRow(layout, &seed)
            SampleRows.withRow(left, layout) { left in
                SampleRows.withRow(right, layout) { right in
                    guard let left, let right else {
                        Issue.record("The rows are good.")
                        return
                    }
                    for slot in layout.columns.indices where layout.columns[slot].nilBit >= 0 {
                        let first = key { _ = $0.append(row: left, slot: slot) }
                        let second = key { _ = $0.append(row: right, slot: slot) }
                        if left.isNil(slot) { #expect(first == [0]) }
                        if left.isNil(slot), !right.isNil(slot) { #expect(first.lexicographicallyPrecedes(second)) }
                    }
                }
            }
        }
    }

    @Test func writesTheSameKeyFromRowAndDraft() {
        var seed = RowSeed(28)
        let layout = SampleRows.everything()
        for _ in 0..<100 {
            let (_, bytes) = SampleRows.randomRow(layout, &seed)
            SampleRows.withRow(bytes, layout) { row in
                guard let row else {
                    Issue.record("The row is good.")
                    return
                }
                let draft = Draft.create(copying: row, layout: layout)
                defer { draft.destroy() }
                for slot in layout.columns.indices where layout.columns[slot].kind != .toMany {
                    #expect(
                        key { _ = $0.append(row: row, slot: slot) } == key { _ = $0.append(draft: draft, slot: slot) }
                    )
                }
            }
        }
    }

    @Test func turnsOnlyTheSlotThatIsNotAscending() {
        let layout = SampleRows.employee()
        func key(_ name: String, _ level: Int64) -> [UInt8] {
            var draft = Draft.create(layout: layout)
            defer { draft.destroy() }
            draft.setString(0, name)
            draft.setInt64(5, level)
            let ofDraft = self.key { writer in
                _ = writer.append(draft: draft, slot: 0, isAscending: true)
                _ = writer.append(draft: draft, slot: 5, isAscending: false)
            }
            SampleRows.withRow(SampleRows.encode(draft), layout) { row in
                guard let row else {
                    Issue.record("The row is good.")
                    return
                }
                let ofRow = self.key { writer in
                    _ = writer.append(row: row, slot: 0, isAscending: true)
                    _ = writer.append(row: row, slot: 5, isAscending: false)
                }
                #expect(ofRow == ofDraft)
            }
            return ofDraft
        }

        #expect(order(key("a", 1), key("b", 1)) == -1)
        #expect(order(key("a", 1), key("a", 2)) == 1)
        #expect(order(key("a", 9), key("ab", 10)) == -1)
    }

    @Test func saysWhenTheValueLiesOutOfTheRow() {
        let layout = SampleRows.employee()
        var draft = Draft.create(layout: layout)
        defer { draft.destroy() }
        draft.setBlobReference(0, identifier: 1, byteCount: 5000)
        var writer = KeyWriter()

        let isFirstThere = writer.append(draft: draft, slot: 0)
        let isSecondThere = writer.append(draft: draft, slot: 1)

        #expect(!isFirstThere)
        #expect(isSecondThere)
    }
}
