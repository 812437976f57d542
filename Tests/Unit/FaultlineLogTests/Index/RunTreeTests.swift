import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

struct RunTreeTests {
    @Test(arguments: [(0, 24), (1, 24), (2, 24), (3_000, 24), (600, 2_000), (120, IndexDefinition.keyByteCountMax)])
    func findsEveryEntryThroughATreeOfAnyHeight(count: Int, keyByteCount: Int) throws {
        let entries = testEntries(count, keyByteCount: keyByteCount)
        let file = try RunFile(entries)
        let run = try file.open()
        #expect(try run.entries() == entries)
        for entry in entries {
            #expect(try run.mayContain(entry.key))
            #expect(
                try run.finding(entry.key)
                    == IndexFinding(id: entry.id, sequence: entry.sequence, isDelete: entry.isDelete))
            // Neighbouring keys that do not exist.
            #expect(try run.finding(Array(entry.key.dropLast())) == nil)
            #expect(try run.finding(entry.key + [0]) == nil)
            let cursor = try entry.key.withUnsafeBytes { (bytes) throws -> RunCursor in try run.cursor(from: bytes) }
            #expect(try cursor.advance())
            #expect(cursor.keyArray == entry.key)
        }
        #expect(try run.finding([255]) == nil)
        #expect(try run.finding([]) == nil)
        if keyByteCount > 1_000 { #expect(run.footer.height >= 5) }
    }

    /// A run larger than the writer's memory is the same run.
    @Test(arguments: [(20_000, 24), (2_000, 700), (60, IndexDefinition.keyByteCountMax)])
    func isTheSameHoweverLittleMemoryTheWriterHas(count: Int, keyByteCount: Int) throws {
        let entries = testEntries(count, keyByteCount: keyByteCount)
        let roomy = try RunFile(entries), narrow = try RunFile(entries, auxiliaryByteCountMax: 4_096)
        let run = try narrow.open()
        let end = Int(run.footer.filterOffset)
        #expect(try roomy.bytes()[..<end] == narrow.bytes()[..<end])
        for entry in entries {
            #expect(try run.mayContain(entry.key))
            #expect(try run.finding(entry.key)?.id == entry.id)
        }
    }

    /// A filter made for too many or too few keys has the size for its keys, or is folded to that.
    @Test(arguments: [1, 100, 1_000, 5_000, 100_000]) func filtersWhateverWasExpected(expected: Int) throws {
        let entries = testEntries(1_000, keyByteCount: 24)
        let run = try RunFile(entries, expected: expected).open()
        for entry in entries { #expect(try run.mayContain(entry.key)) }
        #expect(run.footer.filterLineCount >= 24 && run.footer.filterLineCount < 60)
        var letThrough = 0
        for number in 0..<10_000 where try run.mayContain(row(number, byteCount: 24)) { letThrough += 1 }
        #expect(letThrough < 150, "of 10,000")
    }

    @Test func opensWithTwoReadsHoweverLargeItIs() throws {
        let counting = CountingDisk(over: SimulatedDisk(directories: ["/d"]))
        let entries = testEntries(50_000, keyByteCount: 24)
        let file = try RunFile(entries, on: counting)
        let cache = BlockCache(budget: MemoryBudget(byteCount: 64 << 20))
        let (run, opening) = try counting.counting { try file.open(cache: cache) }
        #expect(opening.reads == 2)
        #expect(opening.bytesRead == FileHeader.byteCount + RunFooter.byteCount)
        #expect(cache.byteCount == 0)
        let height = Int(run.footer.height)
        #expect(height >= 2)

        let key = entries[31_234].key
        let (_, first) = try counting.counting { try run.finding(key) }
        #expect(first.reads == height + 1)
        #expect(first.bytesRead < 2_048 * (height + 1))
        let (_, again) = try counting.counting { try run.finding(key) }
        #expect(again.reads == 0)
        let (_, filter) = try counting.counting { try run.mayContain(key) }
        #expect(filter.reads == 1)
        #expect(filter.bytesRead <= 4_100)
    }

    /// A few bytes distinguish blocks, even if keys are long.
    @Test func indexesLongKeysByShortSeparators() throws {
        var random = Seed(1)
        let entries = (0..<400).map { number -> TestEntry in
            TestEntry(key: row(number << 40, byteCount: 8) + random.bytes(3_000), id: UInt64(number + 1), sequence: 1)
        }
        let run = try RunFile(entries).open()
        // Except for the last block, whose key is stored whole at each level.
        let whole = UInt64(run.footer.height) * 3_040
        #expect(run.footer.filterOffset - run.footer.indexOffset < 400 * 24 + whole)
        for entry in entries { #expect(try run.finding(entry.key)?.id == entry.id) }
        #expect(try run.entries() == entries)
    }

    @Test func findsEntriesOfOneKeyThatFillManyBlocks() throws {
        let key = [UInt8](repeating: 9, count: 20)
        var entries = (1...500).map { TestEntry(key: key, id: UInt64($0), sequence: 3) }
        entries.insert(TestEntry(key: [9, 8], id: 1, sequence: 1), at: 0)
        entries.append(TestEntry(key: key + [0], id: 1, sequence: 1))
        let run = try RunFile(entries).open()
        #expect(try run.finding([9, 8])?.id == 1)
        #expect(try run.finding(key)?.id == 1)
        #expect(try run.finding(key + [0])?.sequence == 1)
        let cursor = try key.withUnsafeBytes { (bytes) throws -> RunCursor in try run.cursor(from: bytes) }
        var ids: [RecordID] = []
        while try cursor.advance(), cursor.keyArray == key { ids.append(cursor.id) }
        #expect(ids == Array(1...500))
    }

    @Test func keepsItsCacheInsideTheBudget() throws {
        let entries = testEntries(20_000, keyByteCount: 60)
        let file = try RunFile(entries)
        let budget = MemoryBudget(byteCount: 100_000)
        let cache = BlockCache(budget: budget)
        do {
            let run = try file.open(cache: cache)
            var random = Seed(5)
            for _ in 0..<5_000 {
                let entry = random.pick(entries)
                #expect(try run.mayContain(entry.key))
                #expect(try run.finding(entry.key)?.id == entry.id)
                #expect(cache.byteCount == budget.used(for: .blocks))
                #expect(budget.used <= 110_000)
            }
            #expect(budget.used > 80_000)
        }
        // The file's blocks will not be read again.
        #expect(budget.used == 0)
    }
}
