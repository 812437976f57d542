import FaultlineDisk
import FaultlineModel
import FaultlineStore
import Testing

struct RowLayoutTests {
    @Test func ordersFieldsByWidthThenSlot() {
        let layout = SampleRows.employee()

        #expect(layout.columns.map(\.offset) == [32, 36, 0, 8, 44, 16, 40, 24])
        #expect(layout.endsOffset == 32)
        #expect(layout.fixedByteCount == 45)
    }

    @Test func putsWideFieldsFirstThenEndWordsThenNarrowFields() {
        let kinds: [AttributeKind] = [.bool, .string, .int16, .uuid, .data, .int32, .decimal, .int64]
        let layout = RowLayout(
            number: 1,
            entityName: "E",
            columns: kinds.enumerated().map { index, kind in
                ColumnDescription(number: UInt32(index), kind: .attribute(kind), isOptional: kind == .uuid)
            }
        )

        #expect(layout.columns.map(\.offset) == [62, 48, 60, 24, 52, 56, 0, 40])
        #expect(layout.nilBitsOffset == 63)
        #expect(layout.fixedByteCount == 64)
    }

    @Test func placesEveryFieldOnItsOwnBytes() {
        var seed = RowSeed(11)
        for _ in 0..<200 {
            let layout = SampleRows.randomLayout(&seed)

            var taken = [Int](repeating: 0, count: layout.fixedByteCount)
            for column in layout.columns {
                for byte in column.offset..<column.offset + column.width { taken[byte] += 1 }
            }
            for byte in layout.nilBitsOffset..<layout.fixedByteCount { taken[byte] += 1 }
            #expect(taken.allSatisfy { $0 == 1 })
        }
    }

    @Test func `every layout keeps the rules`() throws {
        var seed = RowSeed(13)
        for _ in 0..<200 { try SampleRows.randomLayout(&seed).checkInvariants() }
    }

    @Test func `columns of one number, on one place or out of order break a rule`() throws {
        func column(_ number: UInt32, at offset: Int, ordinal: Int = -1, nilBit: Int = -1) -> Column {
            Column(
                number: number, kind: .attribute(ordinal < 0 ? .int32 : .string), offset: offset, width: 4,
                ordinal: ordinal, nilBit: nilBit, externalThreshold: 1)
        }
        let wrong: [(columns: [Column], fixedByteCount: Int)] = [
            ([column(1, at: 0), column(1, at: 4)], 8),
            ([column(1, at: 0), column(2, at: 3)], 8),
            ([column(1, at: 0), column(2, at: 6)], 8),
            ([column(1, at: 0, nilBit: 0), column(2, at: 4)], 8),
            ([column(1, at: 0, nilBit: 0), column(2, at: 4, nilBit: 0)], 9),
            ([column(1, at: 4, ordinal: 0), column(2, at: 0, ordinal: 1)], 8),
        ]
        for (columns, fixedByteCount) in wrong {
            let layout = RowLayout(
                checkedNumber: 1, entityName: "E", columns: columns, fixedByteCount: fixedByteCount)
            let error = #expect(throws: BrokenInvariant.self) { try layout.checkInvariants() }
            #expect(error?.type == "RowLayout")
        }
    }

    @Test func survivesTheRegistry() throws {
        var seed = RowSeed(12)
        for _ in 0..<50 {
            let layout = SampleRows.randomLayout(&seed)

            let bytes = try NestedEncoder.encode(layout)
            let read = try bytes.withUnsafeBytes { try NestedDecoder.decode(RowLayout.self, from: $0) }

            #expect(read.columns == layout.columns)
            #expect(read.number == layout.number)
            #expect(read.entityName == layout.entityName)
            #expect(read.fixedByteCount == layout.fixedByteCount)
            #expect(read.nilBitsOffset == layout.nilBitsOffset)
        }
    }

    @Test func refusesRegistryEntriesWhosePlacesAreWrong() throws {
        let good = SampleRows.everything()
        func refuses(_ change: (inout [Column]) -> Void, fixed: Int? = nil) -> Bool {
            var columns = good.columns
            change(&columns)
            do {
                _ = try RowLayout(
                    registered: 1,
                    entityName: "E",
                    columns: columns,
                    fixedByteCount: fixed ?? good.fixedByteCount
                )
                return false
            } catch { return error.code == .badLayout }
        }
        func moved(_ column: Column, offset: Int? = nil, width: Int? = nil, ordinal: Int? = nil, nilBit: Int? = nil)
            -> Column
        {
            Column(
                number: column.number,
                kind: column.kind,
                offset: offset ?? column.offset,
                width: width ?? column.width,
                ordinal: ordinal ?? column.ordinal,
                nilBit: nilBit ?? column.nilBit,
                externalThreshold: column.externalThreshold
            )
        }
        let text = good.columns.firstIndex { $0.isVariable } ?? 0

        #expect(!refuses { _ in })
        #expect(refuses { $0[0] = moved($0[0], offset: -1) })
        #expect(refuses { $0[0] = moved($0[0], offset: good.fixedByteCount) })
        #expect(refuses { $0[0] = moved($0[0], offset: .max) })
        #expect(refuses { $0[0] = moved($0[0], width: 2) })
        #expect(refuses { $0[0] = moved($0[0], offset: $0[1].offset) })
        #expect(refuses { $0[1] = moved($0[1], nilBit: 1000) })
        #expect(refuses { $0[1] = moved($0[1], nilBit: $0[3].nilBit) })
        #expect(refuses { $0[text] = moved($0[text], ordinal: 7000) })
        #expect(refuses { $0[text] = moved($0[text], ordinal: -1) })
        #expect(refuses { $0[text] = moved($0[text], ordinal: $0[text + 1].ordinal) })
        #expect(refuses { $0.append($0[0]) })
        #expect(refuses({ _ in }, fixed: 3))
        #expect(refuses({ _ in }, fixed: -3))
    }
}
