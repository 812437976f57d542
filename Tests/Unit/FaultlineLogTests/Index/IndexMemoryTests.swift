import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// The budget's count equals the memory in use.
struct IndexMemoryTests {
    private let index = IndexDefinition(id: IndexID(rawValue: 3), isUnique: true, searchPrefix: .wholeKey)

    @Test func countsAMemtableWithItsSortedView() throws {
        let budget = MemoryBudget(byteCount: 64 << 20)
        do {
            let memtable = Memtable(definition: index, budget: budget)
            for number in 0..<10_000 {
                row(number, byteCount: 24).withUnsafeBytes {
                    memtable.append(key: $0, id: UInt64(number + 1), isDelete: false, sequence: 1)
                }
            }
            // Entries of 48 bytes, slots of 8 in tables of 16,384, 8,192 and so on.
            let unsorted = budget.used(for: .memtables)
            #expect(unsorted > 10_000 * 48 + 16_384 * 8 - 256 * 48 && unsorted <= memtable.byteCount)
            var count = 0
            try memtable.sortedEntries(prefix: UnsafeRawBufferPointer(start: nil, count: 0), at: 1) { _, _, _ in
                count += 1
                return true
            }
            #expect(count == 10_000)
            #expect(budget.used(for: .memtables) == memtable.byteCount)
            #expect(memtable.byteCount >= unsorted + 10_000 * 16)
            // The sort's own memory is gone.
            #expect(budget.used(for: .buffers) == 0)
        }
        #expect(budget.used == 0)
    }

    /// A reclaimer that frees nothing, and records the budget's highest count.
    // Safe because one thread uses it.
    private final class Peak: @unchecked Sendable {
        var byteCount = 0
    }

    @Test func countsTheMemoryOfASort() throws {
        // So small that every reservation calls the reclaimer.
        let budget = MemoryBudget(byteCount: 1)
        let peak = Peak()
        let registration = budget.register(.rows) { [weak budget] _ in
            peak.byteCount = max(peak.byteCount, budget?.used(for: .buffers) ?? 0)
            return 0
        }
        let memtable = Memtable(definition: index, budget: budget)
        for number in 0..<10_000 {
            row(number &* 7_919 & 0xFFFF, byteCount: 24).withUnsafeBytes {
                memtable.append(key: $0, id: UInt64(number + 1), isDelete: false, sequence: 1)
            }
        }
        #expect(peak.byteCount == 0)
        try memtable.sortedEntries(prefix: UnsafeRawBufferPointer(start: nil, count: 0), at: 1) { _, _, _ in true }
        #expect(peak.byteCount == 10_000 * 32)
        withExtendedLifetime(registration) {}
    }

    @Test func countsWhatAWalkOverARunReadsInto() throws {
        let budget = MemoryBudget(byteCount: 64 << 20)
        let entries = testEntries(5_000, keyByteCount: 40)
        let run = try RunFile(entries).open(cache: BlockCache(budget: budget))
        do {
            let cursor = run.streamingCursor()
            #expect(try cursor.advance())
            #expect(budget.used(for: .buffers) == 69_632)
        }
        #expect(budget.used == 0)
        do {
            let cursor = try [UInt8]().withUnsafeBytes { (bytes) throws -> RunCursor in try run.cursor(from: bytes) }
            for number in 0..<5_000 {
                #expect(try cursor.advance())
                if number == 20 { #expect(budget.used(for: .buffers) == 0) }
            }
            #expect(budget.used(for: .buffers) == 69_632)
        }
        #expect(budget.used(for: .buffers) == 0)
    }

    @Test func countsTheEntriesOfATransactionUnderWayAndGivesThemBack() throws {
        let log = try Store().open()
        try log.insert([row(0)])
        let before = log.budget.used(for: .buffers)
        _ = try log.write(author: nil) { transaction in
            for number in 1...50_000 { _ = try transaction.insert(row(number, byteCount: 24)) }
            // 24 bytes of key, and the entry with its hash slot.
            #expect(log.budget.used(for: .buffers) - before > 50_000 * 70)
        }
        #expect(log.budget.used(for: .buffers) <= before + 40_000)
        try log.insert([row(99_999)])
        #expect(log.budget.used(for: .buffers) <= before + 40_000)
        #expect(try log.findings().isEmpty)
    }
}
