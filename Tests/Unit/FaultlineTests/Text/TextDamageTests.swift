import Faultline
import FaultlineLog
import FaultlineStore
import FaultlineTestSupport
import FaultlineText
import Testing

/// Any bytes in the entries of a text index give an answer or an error: nothing traps, and every search ends.
@Suite struct TextDamageTests {
    private static let queries = [
        "sea", "sea*", "\"red boat\"", "NEAR(\"red bo\"* sea, 3)", "NOT sea", "boat red", "sea OR winter OR b*",
    ]

    private struct Entry {
        var key: [UInt8]
        let id: RecordID
    }

    private func entries(_ store: RowStore, _ index: TextIndex) throws -> [Entry] {
        var entries: [Entry] = []
        try store.log.snapshot().forEachEntry(
            in: index.definition, prefix: UnsafeRawBufferPointer(start: nil, count: 0)
        ) { key, id in
            entries.append(Entry(key: Array(key), id: id))
            return true
        }
        return entries
    }

    private func exchange(_ old: [Entry], _ new: [Entry], _ store: RowStore, _ index: TextIndex) throws {
        _ = try store.log.write(author: nil) { transaction in
            try StoredCatalog.write(store.storage.schema, store.storage.map, newLayouts: [], in: &transaction)
            for entry in old {
                try entry.key.withUnsafeBytes { try transaction.removeEntry(index.definition, key: $0, id: entry.id) }
            }
            for entry in new {
                try entry.key.withUnsafeBytes { try transaction.insertEntry(index.definition, key: $0, id: entry.id) }
            }
        }
    }

    /// Numbers at the ends of their ranges, in LEB128.
    private static let numbers: [[UInt8]] = [
        [0], [1], [0x7F], [0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [0x80, 0x80, 0x80, 0x80, 0x10],
        [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
        [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], Array(repeating: 0x80, count: 30),
    ]

    /// Changes an entry: its term, its object, or the bytes behind them.
    private func changed(_ entry: Entry, _ random: inout Seed) -> Entry {
        let mark = entry.key.firstIndex(of: 0) ?? 0
        let payload = min(mark + 9, entry.key.count)
        var key = entry.key
        var id = entry.id
        switch random.below(7) {
        case 0: key = Array(key.prefix(random.below(key.count + 1)))
        case 1: key = key.prefix(payload) + (0..<random.below(12)).map { _ in UInt8(random.below(256)) }
        case 2:
            key = Array(key.prefix(payload))
            for _ in 0...random.below(4) { key += Self.numbers[random.below(Self.numbers.count)] }
        case 3: for _ in 0...random.below(3) { key[random.below(key.count)] ^= UInt8(1 << random.below(8)) }
        case 4 where payload == mark + 9:
            // An object that no store has, or another one; as the entry's or only in its key.
            let ids: [RecordID] = [0, 1, 3, 1 << 48, (1 << 48) - 1, Limits.recordIDMax + 1, .max - 1, .max]
            id = ids[random.below(ids.count)]
            for place in 0..<8 { key[mark + 1 + place] = UInt8(truncatingIfNeeded: id >> UInt64(56 - 8 * place)) }
            if random.below(3) == 0 { id = entry.id }
        case 5: key.append(contentsOf: Self.numbers[random.below(Self.numbers.count)])
        default: id = [0, entry.id + 1, 1 << 48, .max][random.below(4)]
        }
        return Entry(key: key.isEmpty ? [0xFF] : Array(key.prefix(1_200)), id: id)
    }

    @Test(arguments: Seed.list(24, unoptimized: 6)) func `changed postings and lengths are answers or errors`(
        seed: Seed
    ) throws {
        var random = seed
        let store = try TestStore(Memo.self, place: .memory)
        let filling = store.context()
        for (number, title) in ["sea", "red boat", "seal winter", "sea red boat red boat", ""].enumerated() {
            let memo = Memo(number)
            memo.title = title
            memo.body = Memo.text(random.below(6), &random)
            filling.insert(memo)
        }
        try filling.save()
        let rows = store.container.rowStore
        let index = try #require(rows.storage.entity(named: "Memo")?.textIndexes.first)
        let whole = try entries(rows, index)
        var refusalCount = 0
        for _ in 0..<100 {
            let old = whole[random.below(whole.count)]
            let new = changed(old, &random)
            let keepsOld = random.below(3) == 0
            do { try exchange(keepsOld ? [] : [old], [new], rows, index) } catch is LogError { continue }
            let context = store.context()
            // Values of this context count instead of those of the index.
            if random.below(4) == 0 {
                let memos = try context.fetch(FetchDescriptor<Memo>())
                for memo in memos where random.below(3) == 0 { memo.title += " sea" }
            }
            for text in Self.queries {
                do {
                    let hits = try context.search(Memo.self, text)
                    #expect(hits.allSatisfy { $0.score.isFinite })
                    _ = try context.searchCount(SearchDescriptor<Memo>(text))
                } catch let error as TextQueryError {
                    Issue.record("\(error)")
                } catch {
                    refusalCount += 1
                    #expect("\(error)".contains("faultline salvage"), "\(error)")
                }
            }
            try exchange([new], [old], rows, index)
        }
        #expect(refusalCount > 50)
        let left = try entries(rows, index)
        #expect(left.map(\.key) == whole.map(\.key) && left.map(\.id) == whole.map(\.id))
    }
}
