import FaultlineModel
import FaultlineStore
import Testing

struct DraftTests {
    @Test(arguments: 0..<150) func givesBackWhatWasSetInEveryForm(seed: Int) throws {
        var seed = RowSeed(UInt64(seed))
        let layout = SampleRows.randomLayout(&seed)
        var draft = Draft.create(layout: layout)
        defer { draft.destroy() }
        var values = layout.columns.map { SampleRows.randomValue($0, &seed) }
        for (slot, value) in values.enumerated().shuffled(using: &seed) {
            SampleRows.set(value, slot: slot, in: &draft)
        }
        for slot in values.indices where seed.chance(3) {
            for _ in 0..<seed.below(4) {
                values[slot] = SampleRows.randomValue(layout.columns[slot], &seed)
                SampleRows.set(values[slot], slot: slot, in: &draft)
            }
        }

        for (slot, column) in layout.columns.enumerated() {
            #expect(SampleRows.value(of: draft, slot: slot, kind: column.kind) == values[slot])
        }
        let copy = draft.copy()
        defer { copy.destroy() }
        let bytes = SampleRows.encode(draft)
        #expect(SampleRows.encode(copy) == bytes)
        try SampleRows.withRow(bytes, layout) { row in
            let row = try #require(row)
            for (slot, column) in layout.columns.enumerated() {
                #expect(SampleRows.value(of: row, slot: slot, kind: column.kind) == values[slot])
            }
            let again = Draft.create(copying: row, layout: layout)
            defer { again.destroy() }
            #expect(again.changedMask == 0)
            #expect(SampleRows.encode(again) == bytes)
        }
    }

    @Test func startsWithNilAndZeros() throws {
        let layout = SampleRows.everything()
        let draft = Draft.create(layout: layout)
        defer { draft.destroy() }

        for (slot, column) in layout.columns.enumerated() {
            #expect(draft.isNil(slot) == (column.nilBit >= 0 || column.kind == .toOne))
        }
        SampleRows.withRow(SampleRows.encode(draft), layout) { #expect($0 != nil) }
    }

    @Test func marksWhatWasSetWithTheLastBitForTheRest() {
        let layout = RowLayout(
            number: 1,
            entityName: "Wide",
            columns: (1...100).map { ColumnDescription(number: $0, kind: .attribute(.string)) }
        )
        var draft = Draft.create(layout: layout)
        defer { draft.destroy() }

        draft.setString(3, "x")
        #expect(draft.changedMask == 1 << 3)
        draft.setString(62, "y")
        #expect(draft.changedMask == 1 << 3 | 1 << 62)
        draft.setString(99, "z")
        #expect(draft.changedMask == UInt64(1) << 3 | 1 << 62 | 1 << 63)
        draft.clearMarks()
        #expect(draft.changedMask == 0)
    }

    @Test func saysWhetherTextIsASCIIOrNormal() {
        let layout = SampleRows.employee()
        var draft = Draft.create(layout: layout)
        defer { draft.destroy() }
        func flags(_ text: String) -> VariableFlags {
            draft.setString(0, text)
            return draft.variableFlags(0)
        }

        #expect(flags("") == [.ascii, .normal])
        #expect(flags("mqtmwrnn lpvfubp") == [.ascii, .normal])
        #expect(flags("mqtmwrnn lpvfub\u{E9}") == .normal)
        #expect(flags("日本語") == .normal)
        #expect(flags("e\u{301}") == [])
        #expect(flags("\u{212B}") == [])
    }

    @Test func seesEveryByteThatIsNotASCII() {
        let layout = SampleRows.employee()
        var draft = Draft.create(layout: layout)
        defer { draft.destroy() }
        for count in 2..<20 {
            for place in 0..<count - 1 {
                var bytes = [UInt8](repeating: 0x61, count: count)
                (bytes[place], bytes[place + 1]) = (0xC3, 0xA9)

                bytes.withUnsafeBytes { draft.setUTF8(0, $0) }

                #expect(draft.variableFlags(0) == .normal)
                #expect(draft.string(0) == String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    @Test func givesLargeValuesAwayAndTakesReferences() throws {
        let layout = RowLayout(
            number: 1,
            entityName: "Photo",
            columns: [
                ColumnDescription(number: 1, kind: .attribute(.data)),
                ColumnDescription(number: 2, kind: .attribute(.string)),
                ColumnDescription(number: 3, kind: .attribute(.data), externalThreshold: 0),
                ColumnDescription(number: 4, kind: .attribute(.data), isOptional: true, externalThreshold: 0),
            ]
        )
        var draft = Draft.create(layout: layout)
        defer { draft.destroy() }
        let photo = [UInt8](repeating: 7, count: 100_000)
        photo.withUnsafeBytes { draft.setBytes(0, $0) }
        draft.setString(1, String(repeating: "n", count: 4096))
        [UInt8](repeating: 1, count: 1).withUnsafeBytes { draft.setBytes(2, $0) }
        draft.setNil(3)
        draft.clearMarks()

        var given: [Int: [UInt8]] = [:]
        draft.valuesOutOfRow(layout: layout) { slot, bytes in given[slot] = Array(bytes) }
        for (slot, bytes) in given {
            draft.setBlobReference(slot, identifier: UInt64(slot) + 100, byteCount: UInt64(bytes.count))
        }

        #expect(given.keys.sorted() == [0, 1, 2])
        #expect(given[0] == photo)
        #expect(draft.changedMask == 0)
        #expect(draft.encodedByteCount == layout.fixedByteCount + 3 * 24)
        try SampleRows.withRow(SampleRows.encode(draft), layout) { row in
            let row = try #require(row)
            #expect(row.blobReference(0) == BlobReference(identifier: 100, byteCount: 100_000))
            #expect(row.blobReference(1) == BlobReference(identifier: 101, byteCount: 4096))
            #expect(row.variableFlags(1) == [.blob, .ascii, .normal])
            #expect(row.blobReference(2) == BlobReference(identifier: 102, byteCount: 1))
            #expect(row.isNil(3))
            #expect(row.blobReference(3) == nil)
        }
        draft.valuesOutOfRow(layout: layout) { slot, _ in Issue.record("\(slot) was given away before") }
    }

    @Test("B5: a copy for a row leaves large values behind")
    func copiesWithoutLargeValues() {
        let layout = RowLayout(
            number: 1, entityName: "Photo",
            columns: [
                ColumnDescription(number: 1, kind: .attribute(.data)),
                ColumnDescription(number: 2, kind: .attribute(.string)),
            ])
        var draft = Draft.create(layout: layout)
        defer { draft.destroy() }
        [UInt8](repeating: 7, count: 1 << 20).withUnsafeBytes { draft.setBytes(0, $0) }
        draft.setString(1, "name")

        var copy = draft.copy(without: [0])
        defer { copy.destroy() }
        copy.setBlobReference(0, identifier: 5, byteCount: 1 << 20)

        #expect(copy.memoryByteCount < 4_096)
        #expect(copy.string(1) == "name" && copy.changedMask == draft.changedMask)
        #expect(copy.blobReference(0) == BlobReference(identifier: 5, byteCount: 1 << 20))
        #expect(draft.variable(0).count == 1 << 20)
    }

    @Test func keepsTextBelowTheThresholdInTheRow() {
        let layout = SampleRows.employee()
        var draft = Draft.create(layout: layout)
        defer { draft.destroy() }

        draft.setString(0, String(repeating: "n", count: 4095))
        draft.setString(1, String(repeating: "m", count: 4095))

        draft.valuesOutOfRow(layout: layout) { slot, _ in Issue.record("\(slot) stays in the row") }
    }

    @Test func writesOrderKeysAsTheRowsExtension() throws {
        let layout = SampleRows.everything()
        let slots = layout.columns.indices.filter { layout.columns[$0].kind == .toOne }
        let draft = Draft.create(layout: layout)
        defer { draft.destroy() }
        #expect(!draft.hasExtension)

        draft.setOrderKey(slots[1], 77)
        draft.setOrderKey(slots[0], 5)
        draft.setOrderKey(slots[0], 6)

        #expect(draft.hasExtension)
        #expect(draft.orderKey(slots[0]) == 6)
        let bytes = SampleRows.encode(draft)
        try SampleRows.withRow(bytes, layout, hasExtension: true) { row in
            let row = try #require(row)
            #expect(row.orderKey(slots[0]) == 6)
            #expect(row.orderKey(slots[1]) == 77)
            let copy = Draft.create(copying: row, layout: layout)
            defer { copy.destroy() }
            #expect(SampleRows.encode(copy) == bytes)
        }
        SampleRows.withRow(bytes, layout, hasExtension: false) { #expect($0 == nil) }
        draft.setOrderKey(slots[0], nil)
        draft.setOrderKey(slots[1], nil)
        #expect(!draft.hasExtension)
    }

    @Test func staysSmallHoweverOftenAValueIsReplaced() {
        let layout = SampleRows.employee()
        var draft = Draft.create(layout: layout)
        defer { draft.destroy() }

        for round in 0..<10_000 { draft.setString([0, 1, 6][round % 3], String(repeating: "x", count: round % 200)) }

        #expect(draft.memoryByteCount < 2_000)
    }

    @Test func startsWithTheRoomThatEarlierDraftsNeeded() {
        let layout = SampleRows.employee()
        func use(_ byteCount: Int) -> Int {
            var draft = Draft.create(layout: layout)
            defer { draft.destroy() }
            let before = draft.memoryByteCount
            draft.setString(0, String(repeating: "x", count: byteCount))
            return before
        }

        let first = use(0)
        for _ in 0..<20 { _ = use(700) }
        let taught = use(0)
        for _ in 0..<200 { _ = use(0) }
        let forgotten = use(0)

        #expect(first < 300)
        #expect(taught > 700)
        #expect(forgotten < 500)
    }

    @Test func leavesSlotsOfToManyRelationshipsAlone() throws {
        let old = RowLayout(
            number: 1,
            entityName: "E",
            columns: [
                ColumnDescription(number: 1, kind: .toMany), ColumnDescription(number: 2, kind: .attribute(.int64)),
                ColumnDescription(number: 3, kind: .toMany),
            ]
        )
        let new = RowLayout(
            number: 2,
            entityName: "E",
            columns: [
                ColumnDescription(number: 2, kind: .attribute(.int64)), ColumnDescription(number: 4, kind: .toMany),
                ColumnDescription(number: 1, kind: .toMany),
            ]
        )
        let adapter = try RowAdapter(layout: old, current: new)
        let draft = Draft.create(layout: old)
        defer { draft.destroy() }
        draft.setInt64(1, 7)
        draft.mark(2)
        let bytes = SampleRows.encode(draft)

        #expect(bytes.count == 8)
        #expect(draft.changedMask == 0b110)
        #expect(!draft.isNil(0))
        try bytes.withUnsafeBytes { bytes in
            let row = try #require(RowView(checking: bytes, adapter: adapter, hasExtension: false))
            #expect(row.int64(0) == 7)
            #expect(!row.isNil(1) && !row.isNil(2))
            #expect(!RowProgram(.isNil(slot: 1), adapter: adapter).matches(row))
            #expect(!RowProgram(.isMember(slot: 2, [.int(1)]), adapter: adapter).matches(row))
            let copy = Draft.create(copying: row, layout: new)
            defer { copy.destroy() }
            #expect(SampleRows.encode(copy) == Array(bytes))
        }
    }
}
