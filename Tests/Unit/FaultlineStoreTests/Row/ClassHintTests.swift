import FaultlineModel
import FaultlineStore
import Testing

/// The upper 16 bits of a to-one field do not belong to the value.
struct ClassHintTests {
    private let layout = RowLayout(
        number: 1, entityName: "E", columns: [ColumnDescription(number: 1, kind: .toOne, isOptional: true)])
    private let hint: UInt64 = 0x0103 << 48

    /// Calls `body` with rows that have these words in their field.
    private func withRows(_ words: [UInt64], _ body: ([RowView]) throws -> Void) rethrows {
        var bytes: [UInt8] = []
        for word in words { bytes += withUnsafeBytes(of: word.littleEndian) { Array($0) } }
        try bytes.withUnsafeBytes { bytes in
            try body(
                words.indices.compactMap { place in
                    RowView(
                        checking: UnsafeRawBufferPointer(rebasing: bytes[place * 8..<place * 8 + 8]), layout: layout,
                        hasExtension: false)
                })
        }
    }

    @Test func isNeitherReadNorCompared() {
        let ordering = RowOrdering([(0, true)], layout: layout)
        withRows([5, 5 | hint, 6, 4 | hint, hint, 0]) { rows in
            #expect(rows.map { $0.toOne(0) } == [5, 5, 6, 4, 0, 0])
            #expect(rows.map { $0.isNil(0) } == [false, false, false, false, true, true])
            #expect(ordering.order(rows[0], rows[1]) == 0 && ordering.order(rows[4], rows[5]) == 0)
            #expect(ordering.order(rows[1], rows[2]) < 0 && ordering.order(rows[3], rows[0]) < 0)
            let keys = rows.map { row -> [UInt8] in
                var key = KeyWriter()
                _ = key.append(row: row, slot: 0)
                return key.withBytes { Array($0) }
            }
            #expect(keys[0] == keys[1] && keys[4] == keys[5] && Set(keys).count == 4)
            let draft = Draft.create(copying: rows[1], layout: layout)
            defer { draft.destroy() }
            #expect(draft.toOne(0) == 5 && !draft.isNil(0))
        }
    }

    @Test func isNotFilteredBy() {
        let members = (5..<20).map { RowValue.identifier($0) }
        let filters: [(RowFilter, [Bool])] = [
            (.compare(slot: 0, .equal, .identifier(5)), [true, true, false, false, false, false]),
            (.compare(slot: 0, .notEqual, .identifier(5)), [false, false, true, true, true, true]),
            (.compare(slot: 0, .less, .identifier(6)), [true, true, false, true, false, false]),
            (.compare(slot: 0, .greater, .identifier(4)), [true, true, true, false, false, false]),
            (.isNil(slot: 0), [false, false, false, false, true, true]),
            (.not(.isNil(slot: 0)), [true, true, true, true, false, false]),
            (.isMember(slot: 0, members), [true, true, true, false, false, false]),
            (.isMember(slot: 0, Array(members.prefix(2))), [true, true, true, false, false, false]),
        ]
        withRows([5, 5 | hint, 6, 4 | hint, hint, 0]) { rows in
            for (filter, expected) in filters {
                let program = RowProgram(filter, layout: layout)
                #expect(rows.map { program.matches($0) } == expected, "\(filter)")
                let accepted = rows.map(\.base).withUnsafeBufferPointer { bases in
                    bases.baseAddress.map { program.mask(rows: $0, count: rows.count).accepted }
                }
                #expect(accepted == expected.enumerated().reduce(0) { $0 | ($1.element ? 1 : 0) << UInt64($1.offset) })
            }
        }
    }
}
