import FaultlineModel
import FaultlineStore
import Testing

struct RowOrderingTests {
    @Test func ordersEverySlotAsItsKeysDo() {
        var seed = RowSeed(300)
        let layout = SampleRows.everything()
        for _ in 0..<150 {
            let (_, left) = SampleRows.randomRow(layout, &seed)
            let (_, right) = SampleRows.randomRow(layout, &seed)
            SampleRows.withRow(left, layout) { left in
                SampleRows.withRow(right, layout) { right in
                    guard let left, let right else {
                        Issue.record("The rows are good.")
                        return
                    }
                    for slot in layout.columns.indices where layout.columns[slot].kind != .toMany {
                        var first = KeyWriter()
                        var second = KeyWriter()
                        let isWhole = first.append(row: left, slot: slot)
                        let isOtherWhole = second.append(row: right, slot: slot)
                        #expect(isWhole && isOtherWhole)
                        let (leftKey, rightKey) = (first.withBytes { Array($0) }, second.withBytes { Array($0) })
                        let expected = leftKey == rightKey ? 0 : leftKey.lexicographicallyPrecedes(rightKey) ? -1 : 1
                        let ascending = RowOrdering([(slot, true)], layout: layout)
                        let descending = RowOrdering([(slot, false)], layout: layout)

                        #expect(ascending.order(left, right) == expected, "slot \(slot)")
                        #expect(descending.order(left, right) == -expected)
                        first.removeAll()
                        second.removeAll()
                        let isTurned = first.append(row: left, slot: slot, isAscending: false)
                        let isOtherTurned = second.append(row: right, slot: slot, isAscending: false)
                        let (leftTurned, rightTurned) = (first.withBytes { Array($0) }, second.withBytes { Array($0) })
                        #expect(isTurned && isOtherTurned)
                        #expect(leftTurned.lexicographicallyPrecedes(rightTurned) == (expected > 0))
                        #expect(ascending.areInOrder(left, right) == (expected < 0))
                        #expect(ascending.order(left, left) == 0)
                    }
                }
            }
        }
    }

    @Test func looksAtLaterSlotsOnlyWhereEarlierOnesAreEqual() {
        let layout = SampleRows.employee()
        func row(_ name: String, _ salary: Double) -> [UInt8] {
            var draft = Draft.create(layout: layout)
            defer { draft.destroy() }
            draft.setString(0, name)
            draft.setDouble(2, salary)
            return SampleRows.encode(draft)
        }
        let ordering = RowOrdering([(0, true), (2, false)], layout: layout)
        func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
            SampleRows.withRow(left, layout) { left in
                SampleRows.withRow(right, layout) { right in
                    guard let left, let right else { return 9 }
                    return ordering.order(left, right)
                }
            }
        }

        #expect(order(row("a", 1), row("b", 2)) == -1)
        #expect(order(row("a", 1), row("a", 2)) == 1)
        #expect(order(row("a", 2), row("a", 2)) == 0)
        #expect(order(row("e\u{301}", 2), row("\u{E9}", 2)) == 0)
        #expect(order(row("a", .nan), row("a", .infinity)) == -1)
    }

    @Test func asksForValuesOutOfTheRow() throws {
        let layout = SampleRows.employee()
        var draft = Draft.create(layout: layout)
        defer { draft.destroy() }
        draft.setString(6, "m")
        let plain = SampleRows.encode(draft)
        draft.setBlobReference(6, identifier: 1, byteCount: 5000)
        let large = SampleRows.encode(draft)
        let ordering = RowOrdering([(6, true)], layout: layout)

        try SampleRows.withRow(plain, layout) { plain in
            try SampleRows.withRow(large, layout) { large in
                let (plain, large) = (try #require(plain), try #require(large))
                let before = ordering.order(large, plain) { _, _, _ in Array("a".utf8) }
                let after = ordering.order(large, plain) { _, _, _ in Array("z".utf8) }
                #expect(before == -1)
                #expect(after == 1)
                #expect(ordering.order(large, plain) == 1)
                #expect(ordering.order(plain, large) == -1)
            }
        }
    }
}
