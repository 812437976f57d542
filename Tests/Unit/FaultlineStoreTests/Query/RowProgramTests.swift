import FaultlineModel
import FaultlineStore
import Testing

struct RowProgramTests {
    /// A value to compare a column with, often one that occurs in rows.
    private func value(for column: Column, _ seed: inout RowSeed) -> RowValue {
        if seed.chance(12) { return .null }
        let number: RowValue =
            switch seed.below(4) {
            case 0: .int(seed.int64())
            case 1: .uint(UInt64(bitPattern: seed.int64()))
            case 2: .double(seed.double())
            default: .float(Float(seed.double()))
            }
        switch column.kind {
        case .toMany: return .null
        case .toOne, .link: return .identifier(seed.chance(3) ? 0 : UInt64(seed.below(5)))
        case .attribute(let kind):
            switch kind {
            case .bool: return .bool(seed.chance(2))
            case .uuid: return .uuid(UInt64(seed.below(3)) << 60, UInt64(seed.below(3)))
            case .decimal:
                if seed.chance(4) { return .int(Int64(seed.below(20)) - 10) }
                if seed.chance(8) { return .decimal(.notANumber) }
                return .decimal(
                    StoredDecimal(
                        mantissa: UInt128(seed.below(2000)),
                        exponent: Int32(seed.below(4)) - 3,
                        isNegative: seed.chance(2)
                    )
                )
            case .string, .url: return .string(seed.text())
            case .data, .codable: return .data(seed.bytes(4))
            default: return number
            }
        }
    }

    private func filter(_ layout: RowLayout, _ seed: inout RowSeed, depth: Int = 0) -> RowFilter {
        let slot = seed.below(layout.columns.count)
        let column = layout.columns[slot]
        switch seed.below(depth < 3 ? 12 : 7) {
        case 0: return .isNil(slot: slot)
        case 1:
            let texts = layout.columns.indices.filter { layout.columns[$0].kind.isText }
            let text = seed.text()
            let slot = texts[seed.below(texts.count)]
            return seed.chance(2) ? .containsText(slot: slot, text) : .beginsWith(slot: slot, text)
        case 2: return .isMember(slot: slot, (0..<seed.below(30)).map { _ in value(for: column, &seed) })
        case 3...6:
            let comparison = RowComparison.allCases[seed.below(6)]
            return .compare(slot: slot, comparison, value(for: column, &seed))
        case 7: return .not(filter(layout, &seed, depth: depth + 1))
        case 8: return .or((0..<seed.below(4)).map { _ in filter(layout, &seed, depth: depth + 1) })
        case 9: return seed.chance(2) ? .always : .never
        default: return .and((0..<seed.below(4)).map { _ in filter(layout, &seed, depth: depth + 1) })
        }
    }

    /// Rows whose values are often those of the filters.
    private func rows(_ layout: RowLayout, count: Int, _ seed: inout RowSeed) -> [[UInt8]] {
        (0..<count).map { _ in
            var draft = Draft.create(layout: layout)
            defer { draft.destroy() }
            for (slot, column) in layout.columns.enumerated() {
                if column.nilBit >= 0, seed.chance(4) {
                    draft.setNil(slot)
                    continue
                }
                switch column.kind {
                case .toMany: break
                case .toOne, .link: draft.setToOne(slot, UInt64(seed.below(5)))
                case .attribute(.uuid): draft.setUUID(slot, (UInt64(seed.below(3)) << 60, UInt64(seed.below(3))))
                case .attribute(.decimal):
                    draft.setDecimal(
                        slot,
                        seed.chance(8)
                            ? .notANumber
                            : StoredDecimal(
                                mantissa: UInt128(seed.below(2000)),
                                exponent: Int32(seed.below(4)) - 3,
                                isNegative: seed.chance(2)
                            )
                    )
                case .attribute(.data), .attribute(.codable): seed.bytes(4).withUnsafeBytes { draft.setBytes(slot, $0) }
                default: SampleRows.set(SampleRows.randomValue(column, &seed), slot: slot, in: &draft)
                }
            }
            return SampleRows.encode(draft)
        }
    }

    private func describe(_ row: RowView, _ layout: RowLayout) -> [String] {
        layout.columns.indices.map { slot in
            layout.columns[slot].kind.isText
                ? "\(Array(row.string(slot).unicodeScalars)) \(row.variableFlags(slot).rawValue >> 28)"
                : "\(SampleRows.value(of: row, slot: slot, kind: layout.columns[slot].kind))"
        }
    }

    @Test(arguments: 0..<12) func answersAsSwiftsOperatorsDo(seed: Int) {
        var seed = RowSeed(UInt64(seed) + 100)
        let layout = SampleRows.everything()
        let rows = rows(layout, count: 100, &seed)
        let memory = rows.map { bytes -> UnsafeRawPointer in
            let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 8)
            bytes.withUnsafeBytes {
                copy.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(copy), byteCount: bytes.count)
            }
            return UnsafeRawPointer(copy)
        }
        defer { for row in memory { row.deallocate() } }
        for _ in 0..<80 {
            let filter = filter(layout, &seed)
            let program = RowProgram(filter, layout: layout)

            #expect(filter.mismatch(in: layout) == nil)
            var count = 0
            for row in memory {
                let view = RowView(trusted: row, table: layout.table)
                let expected = ReferenceFilter.matches(filter, view, layout)
                count += expected ? 1 : 0
                #expect(program.matches(view) == expected, "\(filter) \(describe(view, layout))")
                #expect(program.outcome(of: view) == (expected ? .accepted : .rejected))
                if let constant = program.constantOutcome { #expect(constant == expected) }
            }
            memory.withUnsafeBufferPointer { rows in
                guard let base = rows.baseAddress else { return }
                #expect(program.countMatches(rows: base, count: rows.count) == count, "\(filter)")
                for size in [0, 1, 33, 64] {
                    let mask = program.mask(rows: base, count: size)
                    #expect(mask.undecided == 0)
                    #expect(size == 64 || mask.accepted >> UInt64(size) == 0)
                }
            }
        }
    }

    @Test(arguments: [AttributeKind.int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double])
    func comparesNumbersExactlyAcrossKinds(kind: AttributeKind) {
        var seed = RowSeed(200)
        let layout = RowLayout(
            number: 1,
            entityName: "E",
            columns: [ColumnDescription(number: 1, kind: .attribute(kind), isOptional: true)]
        )
        for _ in 0..<4_000 {
            let (_, bytes) = SampleRows.randomRow(layout, &seed)
            let number: RowValue =
                switch seed.below(4) {
                case 0: .int(seed.int64())
                case 1: .uint(UInt64(bitPattern: seed.int64()))
                case 2: .double(seed.double())
                default: .float(Float(seed.double()))
                }
            let filter = RowFilter.compare(slot: 0, RowComparison.allCases[seed.below(6)], number)
            SampleRows.withRow(bytes, layout) { row in
                guard let row else {
                    Issue.record("The row is good.")
                    return
                }
                let expected = ReferenceFilter.matches(filter, row, layout)
                #expect(RowProgram(filter, layout: layout).matches(row) == expected, "\(filter) \(row.int64(0))")
            }
        }
    }

    @Test func comparesDoublesExactlyWithIntegersBetweenThem() {
        let layout = SampleRows.employee()
        let draft = Draft.create(layout: layout)
        defer { draft.destroy() }
        for (double, integer) in [
            (9_007_199_254_740_996.0, Int64(9_007_199_254_740_995)), (9_007_199_254_740_992.0, 9_007_199_254_740_993),
            (9_223_372_036_854_775_808.0, .max), (-9_223_372_036_854_775_808.0, .min + 1),
        ] {
            draft.setDouble(2, double)
            SampleRows.withRow(SampleRows.encode(draft), layout) { row in
                guard let row else {
                    Issue.record("The row is good.")
                    return
                }
                for comparison in RowComparison.allCases {
                    let filter = RowFilter.compare(slot: 2, comparison, .int(integer))
                    #expect(
                        RowProgram(filter, layout: layout).matches(row) == ReferenceFilter.matches(filter, row, layout)
                    )
                }
            }
        }
    }

    @Test func treatsNotANumberAsSwiftsOperatorsDo() {
        let layout = SampleRows.employee()
        let draft = Draft.create(layout: layout)
        defer { draft.destroy() }
        draft.setDouble(2, .nan)
        let bytes = SampleRows.encode(draft)
        func matches(_ comparison: RowComparison, _ value: Double) -> Bool {
            SampleRows.withRow(bytes, layout) { row in
                row.map { RowProgram(.compare(slot: 2, comparison, .double(value)), layout: layout).matches($0) }
                    ?? false
            }
        }

        for comparison in RowComparison.allCases {
            #expect(matches(comparison, .nan) == (comparison == .notEqual))
            #expect(matches(comparison, 1) == (comparison == .notEqual))
        }
    }

    @Test func findsTextByCharacters() {
        let layout = SampleRows.employee()
        var draft = Draft.create(layout: layout)
        defer { draft.destroy() }
        func contains(_ text: String, _ part: String) -> Bool {
            draft.setString(0, text)
            return SampleRows.withRow(SampleRows.encode(draft), layout) { row in
                row.map { RowProgram(.containsText(slot: 0, part), layout: layout).matches($0) } ?? false
            }
        }

        #expect(contains("cafe", "e"))
        #expect(!contains("cafe\u{301}", "e"))
        #expect(contains("cafe\u{301}", "\u{E9}"))
        #expect(contains("caf\u{E9}s", "e\u{301}s"))
        #expect(!contains("a\r\nb", "\n"))
        #expect(!contains("a\r\nb", "\r"))
        #expect(!contains("a\r\nb", "a\r"))
        #expect(contains("a\r\nb\n", "\n"))
        #expect(contains("a\r\nb", "\r\nb"))
        #expect(contains("5 K", "\u{212A}"))
        #expect(contains("", ""))
        #expect(!contains("", "x"))
    }

    @Test func answersForRowsOfOlderLayouts() throws {
        let old = RowLayout(
            number: 1,
            entityName: "E",
            columns: [
                ColumnDescription(number: 5, kind: .attribute(.int16)),
                ColumnDescription(number: 6, kind: .attribute(.string)),
                ColumnDescription(number: 7, kind: .attribute(.float)),
            ]
        )
        let new = RowLayout(
            number: 2,
            entityName: "E",
            columns: [
                ColumnDescription(number: 7, kind: .attribute(.double)),
                ColumnDescription(number: 8, kind: .attribute(.int32), isOptional: true),
                ColumnDescription(number: 9, kind: .attribute(.string)),
                ColumnDescription(number: 6, kind: .attribute(.string)),
                ColumnDescription(number: 5, kind: .attribute(.int64)),
                ColumnDescription(number: 10, kind: .attribute(.bool)),
            ]
        )
        var defaults = Draft.create(layout: new)
        defaults.setString(2, "none")
        defaults.setBool(5, true)
        var draft = Draft.create(layout: old)
        defer { draft.destroy() }
        draft.setInt64(0, -7)
        draft.setString(1, "six")
        draft.setFloat(2, 0.1)
        let bytes = SampleRows.encode(draft)
        let adapter = try RowAdapter(layout: old, current: new, defaults: defaults)
        func matches(_ filter: RowFilter) throws -> Bool {
            try bytes.withUnsafeBytes { bytes in
                let row = try #require(RowView(checking: bytes, adapter: adapter, hasExtension: false))
                let program = try RowProgram(filter, layout: old, current: new, defaults: defaults)
                #expect(program.matches(row) == ReferenceFilter.matches(filter, row, new))
                return program.matches(row)
            }
        }

        #expect(try matches(.compare(slot: 4, .less, .int(-6))))
        #expect(try !matches(.compare(slot: 4, .less, .int(-7))))
        #expect(try matches(.compare(slot: 0, .greater, .double(0.1))))
        #expect(try matches(.compare(slot: 0, .equal, .float(0.1))))
        #expect(try matches(.isNil(slot: 1)))
        #expect(try matches(.compare(slot: 1, .notEqual, .int(3))))
        #expect(try matches(.compare(slot: 2, .equal, .string("none"))))
        #expect(try matches(.and([.compare(slot: 5, .equal, .bool(true)), .containsText(slot: 3, "ix")])))
        #expect(try matches(.isMember(slot: 2, [.string("x"), .string("none")])))
        defaults.destroy()
    }

    @Test func asksForValuesOutOfTheRowOnlyWhereTheyDecide() throws {
        let layout = SampleRows.employee()
        var draft = Draft.create(layout: layout)
        defer { draft.destroy() }
        draft.setString(6, String(repeating: "long ", count: 2000))
        draft.setBlobReference(6, identifier: 9, byteCount: 10_000)
        draft.setBool(4, true)
        let bytes = SampleRows.encode(draft)
        func outcome(_ filter: RowFilter) throws -> RowOutcome {
            try SampleRows.withRow(bytes, layout) { row in
                RowProgram(filter, layout: layout).outcome(of: try #require(row))
            }
        }
        let isLong = RowFilter.containsText(slot: 6, "ong")

        #expect(try outcome(isLong) == .undecided)
        #expect(try outcome(.compare(slot: 6, .equal, .string("short"))) == .rejected)
        #expect(try outcome(.compare(slot: 6, .notEqual, .string("short"))) == .accepted)
        #expect(try outcome(.compare(slot: 6, .less, .string("short"))) == .undecided)
        #expect(try outcome(.and([isLong, .compare(slot: 4, .equal, .bool(false))])) == .rejected)
        #expect(try outcome(.or([isLong, .compare(slot: 4, .equal, .bool(true))])) == .accepted)
        #expect(try outcome(.isNil(slot: 6)) == .rejected)
        #expect(RowProgram(isLong, layout: layout).mayNeedValues)
        #expect(!RowProgram(.compare(slot: 2, .less, .int(3)), layout: layout).mayNeedValues)

        try SampleRows.withRow(bytes, layout) { row in
            let row = try #require(row)
            var asked = 0
            let load: (Int, BlobReference) -> [UInt8] = { slot, reference in
                #expect(slot == 6 && reference == BlobReference(identifier: 9, byteCount: 10_000))
                asked += 1
                return Array(String(repeating: "long ", count: 2000).utf8)
            }
            let isMatch = RowProgram(.and([isLong, .not(.beginsWith(slot: 6, "short"))]), layout: layout)
                .matches(row, loading: load)
            let isOther = RowProgram(.and([isLong, .beginsWith(slot: 6, "short")]), layout: layout)
                .matches(row, loading: load)
            #expect(isMatch && !isOther)
            #expect(asked == 3)

            let program = RowProgram(isLong, layout: layout)
            var undecided: [Int] = []
            let rows = [row.base, row.base, row.base]
            let count = rows.withUnsafeBufferPointer { rows in
                rows.baseAddress.map { program.countMatches(rows: $0, count: 3) { undecided.append($0) } }
            }
            #expect(count == 0)
            #expect(undecided == [0, 1, 2])
        }
    }

    @Test func namesWhatCannotBeAsked() {
        let layout = SampleRows.employee()

        #expect(
            RowFilter.and([.always, .compare(slot: 0, .equal, .int(1))]).mismatch(in: layout)
                == RowFilterMismatch(slot: 0, kind: .attribute(.string))
        )
        #expect(RowFilter.isNil(slot: 99).mismatch(in: layout) == RowFilterMismatch(slot: 99, kind: nil))
        #expect(RowFilter.containsText(slot: 2, "x").mismatch(in: layout)?.slot == 2)
        #expect(RowFilter.not(.isMember(slot: 2, [.double(1), .string("")])).mismatch(in: layout)?.slot == 2)
        #expect(RowFilter.isMember(slot: 2, [.double(1), .null]).mismatch(in: layout) == nil)
    }
}
