import FaultlineModel
import FaultlineStore
import Testing

struct RowViewTests {
    /// Reads every byte that any getter can reach.
    private func readEverything(_ row: RowView, _ layout: RowLayout) -> Int {
        var sum = 0
        for (slot, column) in layout.columns.enumerated() {
            switch SampleRows.value(of: row, slot: slot, kind: column.kind) {
            case .text(let bytes), .bytes(let bytes): sum += bytes.count
            default: sum += 1
            }
            if column.isVariable { sum += Int(truncatingIfNeeded: row.blobReference(slot)?.byteCount ?? 0) & 1 }
            sum += Int(truncatingIfNeeded: row.orderKey(slot) ?? 0) & 1
        }
        return sum
    }

    /// Copies the bytes to an allocation of exactly their size, so that a sanitizer detects reads beyond them.
    private func check(_ bytes: ArraySlice<UInt8>, _ layout: RowLayout, hasExtension: Bool) -> Bool {
        let exact = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { exact.deallocate() }
        exact.copyBytes(from: bytes)
        guard let row = RowView(checking: UnsafeRawBufferPointer(exact), layout: layout, hasExtension: hasExtension)
        else {
            return false
        }
        for slot in layout.columns.indices where layout.columns[slot].isVariable {
            let value = row.variable(slot)
            let start = UnsafeRawPointer(value.baseAddress ?? row.base) - row.base
            #expect(start >= layout.fixedByteCount && start + value.count <= bytes.count)
        }
        return readEverything(row, layout) >= 0
    }

    @Test(arguments: [UInt64(1), 2, 3]) func survivesEveryFlippedBit(seed: UInt64) {
        var seed = RowSeed(seed)
        let layout = SampleRows.everything()
        var (_, bytes) = SampleRows.randomRow(layout, &seed)
        var draft = bytes.withUnsafeBytes {
            Draft.create(
                copying: RowView(trusted: $0.baseAddress ?? UnsafeRawPointer(layout.table), table: layout.table),
                layout: layout
            )
        }
        draft.setOrderKey(36, 9)
        draft.setOrderKey(37, 10)
        draft.setNil(1)
        bytes = SampleRows.encode(draft)
        draft.destroy()
        #expect(check(bytes[...], layout, hasExtension: true))

        var refused = 0
        for bit in 0..<bytes.count * 8 {
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            if !check(bytes[...], layout, hasExtension: true) { refused += 1 }
            _ = check(bytes[...], layout, hasExtension: false)
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        }
        #expect(refused > 100)
    }

    @Test func refusesEveryTruncation() {
        var seed = RowSeed(5)
        for layout in [SampleRows.employee(), SampleRows.everything()] {
            let (_, bytes) = SampleRows.randomRow(layout, &seed)
            #expect(check(bytes[...], layout, hasExtension: false))

            for count in 0..<bytes.count {
                #expect(!check(bytes[..<count], layout, hasExtension: false))
                _ = check(bytes[..<count], layout, hasExtension: true)
            }
        }
    }

    @Test func survivesRandomBytes() {
        var seed = RowSeed(6)
        let layouts = [SampleRows.employee(), SampleRows.everything()]
        for _ in 0..<4_000 {
            let layout = layouts[seed.below(2)]
            var (_, bytes) = SampleRows.randomRow(layout, &seed)
            for _ in 0..<1 + seed.below(8) { bytes[seed.below(bytes.count)] = UInt8(truncatingIfNeeded: seed.next()) }

            _ = check(bytes[...], layout, hasExtension: seed.chance(2))
        }
    }

    @Test func refusesWhatNoDraftWrites() {
        let layout = RowLayout(
            number: 1,
            entityName: "E",
            columns: [
                ColumnDescription(number: 1, kind: .attribute(.int64), isOptional: true),
                ColumnDescription(number: 2, kind: .attribute(.string)),
                ColumnDescription(number: 3, kind: .attribute(.data)),
                ColumnDescription(number: 4, kind: .attribute(.bool)),
            ]
        )
        var draft = Draft.create(layout: layout)
        defer { draft.destroy() }
        draft.setString(1, "hello")
        [UInt8](repeating: 3, count: 7).withUnsafeBytes { draft.setBytes(2, $0) }
        let good = SampleRows.encode(draft)
        func refuses(_ change: (inout [UInt8]) -> Void) -> Bool {
            var bytes = good
            change(&bytes)
            return !check(bytes[...], layout, hasExtension: false)
        }

        #expect(!refuses { _ in })
        #expect(refuses { $0[16] = 2 })
        #expect(refuses { $0[17] = 3 })
        #expect(refuses { $0[0] = 1 })
        #expect(refuses { $0[8] = 200 })
        #expect(refuses { $0[12] = 4 })
        #expect(refuses { $0[11] |= 0x80 })
        #expect(refuses { $0[11] |= 0x10 })
        #expect(refuses { $0.append(0) })
    }

    @Test func refusesExtensionsThatNoDraftWrites() {
        let layout = RowLayout(
            number: 1,
            entityName: "E",
            columns: (0..<3).map { ColumnDescription(number: $0, kind: .toOne) }
        )
        func refuses(_ entries: [(slot: UInt8, reserved: UInt8)], size: UInt8? = nil, extra: [UInt8] = []) -> Bool {
            var bytes = [UInt8](repeating: 0, count: layout.fixedByteCount)
            for entry in entries { bytes += [entry.slot, 0, entry.reserved, 0, 9, 0, 0, 0, 0, 0, 0, 0] }
            bytes += extra + [size ?? UInt8(entries.count * 12 + extra.count), 0, 0, 0]
            return !check(bytes[...], layout, hasExtension: true)
        }

        #expect(!refuses([]))
        #expect(!refuses([(0, 0), (2, 0)]))
        #expect(refuses([(2, 0), (0, 0)]))
        #expect(refuses([(1, 0), (1, 0)]))
        #expect(refuses([(3, 0)]))
        #expect(refuses([(0, 1)]))
        #expect(refuses([(0, 0)], size: 0))
        #expect(refuses([(0, 0)], size: 24))
        #expect(refuses([(0, 0)], extra: [1, 0]))
    }

    @Test func acceptsARowWithoutColumns() {
        let layout = RowLayout(number: 1, entityName: "Nothing", columns: [])

        let byte = [UInt8(7)]
        byte.withUnsafeBytes { byte in
            let nothing = UnsafeRawBufferPointer(rebasing: byte[..<0])
            #expect(RowView(checking: nothing, layout: layout, hasExtension: false) != nil)
            #expect(RowView(checking: byte, layout: layout, hasExtension: false) == nil)
        }
    }
}
