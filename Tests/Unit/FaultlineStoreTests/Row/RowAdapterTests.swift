import FaultlineModel
import FaultlineStore
import Testing

struct RowAdapterTests {
    /// Two layouts of an entity: the newer one has other widths, other kinds, another order, and columns of its own.
    private static func layouts() -> (old: RowLayout, new: RowLayout) {
        let old = RowLayout(
            number: 1,
            entityName: "E",
            columns: [
                ColumnDescription(number: 10, kind: .attribute(.int16)),
                ColumnDescription(number: 11, kind: .attribute(.string)),
                ColumnDescription(number: 12, kind: .attribute(.float)), ColumnDescription(number: 13, kind: .toOne),
                ColumnDescription(number: 14, kind: .attribute(.uint32), width: 1),
                ColumnDescription(number: 15, kind: .attribute(.data)),
            ]
        )
        let new = RowLayout(
            number: 2,
            entityName: "E",
            columns: [
                ColumnDescription(number: 20, kind: .attribute(.string)),
                ColumnDescription(number: 21, kind: .attribute(.bool), isOptional: true),
                ColumnDescription(number: 22, kind: .attribute(.uuid)),
                ColumnDescription(number: 14, kind: .attribute(.int64)),
                ColumnDescription(number: 13, kind: .toOne), ColumnDescription(number: 12, kind: .attribute(.double)),
                ColumnDescription(number: 11, kind: .attribute(.string), isOptional: true),
                ColumnDescription(number: 10, kind: .attribute(.int64)),
                ColumnDescription(number: 23, kind: .attribute(.int32)), ColumnDescription(number: 24, kind: .toOne),
            ]
        )
        return (old, new)
    }

    @Test func findsColumnsByNumberAndTakesDefaultsForTheRest() throws {
        let (old, new) = Self.layouts()
        var defaults = Draft.create(layout: new)
        defaults.setString(0, "default")
        defaults.setUUID(2, (1, 2))
        defaults.setInt64(8, -5)
        let adapter = try RowAdapter(layout: old, current: new, defaults: defaults)
        defaults.destroy()
        var draft = Draft.create(layout: old)
        defer { draft.destroy() }
        draft.setInt64(0, -300)
        draft.setString(1, "text")
        draft.setFloat(2, 1.5)
        draft.setToOne(3, 99)
        draft.setInt64(4, 200)
        draft.setOrderKey(3, 12345)
        let bytes = SampleRows.encode(draft)

        try bytes.withUnsafeBytes { bytes in
            let row = try #require(RowView(checking: bytes, adapter: adapter, hasExtension: true))
            #expect(row.string(0) == "default")
            #expect(row.isNil(1))
            #expect(row.uuid(2) == (1, 2))
            #expect(row.int64(3) == 200)
            #expect(row.toOne(4) == 99)
            #expect(!row.isNil(4))
            #expect(row.double(5) == 1.5)
            #expect(row.string(6) == "text")
            #expect(!row.isNil(6))
            #expect(row.int64(7) == -300)
            #expect(row.int64(8) == -5)
            #expect(row.toOne(9) == 0)
            #expect(row.isNil(9))
            #expect(row.orderKey(4) == 12345)
            #expect(row.orderKey(9) == nil)

            let copy = Draft.create(copying: row, layout: new)
            defer { copy.destroy() }
            SampleRows.withRow(SampleRows.encode(copy), new, hasExtension: true) { converted in
                #expect(converted?.string(0) == "default")
                #expect(converted?.int64(7) == -300)
                #expect(converted?.double(5) == 1.5)
                #expect(converted?.string(6) == "text")
                #expect(converted?.isNil(1) == true)
                #expect(converted?.orderKey(4) == 12345)
            }
        }
    }

    @Test func readsEveryNarrowWidthRight() throws {
        for kind in SampleRows.allKinds where kind.isInteger {
            for width in [1, 2, 4, 8] where width <= kind.naturalWidth {
                let old = RowLayout(
                    number: 1,
                    entityName: "E",
                    columns: [ColumnDescription(number: 1, kind: kind, width: width)]
                )
                let draft = Draft.create(layout: old)
                defer { draft.destroy() }
                let bits = Int64(width * 8)
                let values: [Int64] =
                    kind.isSignedInteger
                    ? [0, 1, -1, .min >> (64 - bits), .max >> (64 - bits)]
                    : [0, 1, bits == 64 ? -1 : 1 << bits - 1, 1 << (bits - 1)]
                for value in values {
                    draft.setInt64(0, value)

                    SampleRows.withRow(SampleRows.encode(draft), old) { #expect($0?.int64(0) == value) }
                }
            }
        }
    }

    @Test func refusesKindsThatCannotBeReadAsTheNewOne() {
        func refuses(_ old: AttributeKind, _ new: AttributeKind) -> Bool {
            func layout(_ kind: AttributeKind) -> RowLayout {
                RowLayout(number: 1, entityName: "E", columns: [ColumnDescription(number: 1, kind: .attribute(kind))])
            }
            do {
                _ = try RowAdapter(layout: layout(old), current: layout(new))
                return false
            } catch { return error.code == .incompatibleColumn }
        }

        #expect(!refuses(.int16, .int32))
        #expect(!refuses(.uint16, .int32))
        #expect(!refuses(.float, .double))
        #expect(refuses(.uint32, .int32))
        #expect(refuses(.int32, .int16))
        #expect(refuses(.int32, .uint64))
        #expect(refuses(.double, .float))
        #expect(refuses(.string, .int64))
        #expect(refuses(.data, .string))
    }
}
