import FaultlineLog
import FaultlineTestSupport
import Testing

/// Tests the content of a run's blocks, and their size.
struct RunFormTests {
    /// A number of any width, small ones as often as large ones.
    private func number(_ random: inout Seed, upTo limit: UInt64) -> UInt64 {
        random.next() >> UInt64(random.below(64)) % limit
    }

    /// Arrays of every width, alone and together: each block has the width that its own numbers need.
    @Test(arguments: Seed.list(12, unoptimized: 4)) func keepsNumbersOfEverySize(seed: Seed) throws {
        var random = seed
        var entries: Set<TestEntry> = []
        for _ in 0..<200 {
            // Neighbours in the order have numbers of the same size, so that widths rise and fall from block to block.
            let id = number(&random, upTo: 1 << 48), sequence = number(&random, upTo: 1 << 62 + 1)
            let spread = (id: random.next() >> UInt64(16 + random.below(48)), sequence: random.next() >> 2)
            let start = random.bytes(random.oneIn(4) ? random.below(700) : random.below(9))
            for _ in 0..<random.below(30) {
                entries.insert(
                    TestEntry(
                        key: start + random.bytes(random.below(4)),
                        id: random.oneIn(2) ? id : min(id + random.next() % (spread.id + 1), 1 << 48 - 1),
                        sequence: random.oneIn(2)
                            ? sequence : min(sequence + random.next() % (spread.sequence + 1), 1 << 62),
                        isDelete: random.oneIn(5)))
            }
        }
        entries.insert(TestEntry(key: [], id: 0, sequence: 0))
        // One entry for each key, identifier and sequence number.
        var sorted: [TestEntry] = []
        for entry in entries.sorted() where sorted.last.map({ $0 < entry }) ?? true { sorted.append(entry) }

        let run = try RunFile(sorted).open()
        #expect(try run.entries() == sorted, "\(seed.replayLine)")
        for (place, entry) in sorted.enumerated() where place % 7 == 0 {
            let cursor = try entry.key.withUnsafeBytes { (bytes) throws -> RunCursor in try run.cursor(from: bytes) }
            #expect(try cursor.advance())
            let first = try #require(sorted.first { $0.key == entry.key })
            #expect(cursor.keyArray == first.key && cursor.id == first.id && cursor.sequence == first.sequence)
        }
    }

    @Test func keepsTheLargestNumbers() throws {
        let entries = [
            TestEntry(key: [1], id: 0, sequence: 1 << 62, isDelete: true), TestEntry(key: [1], id: 0, sequence: 0),
            TestEntry(key: [1], id: 1 << 48 - 1, sequence: 1 << 62),
            TestEntry(key: [1], id: 1 << 48 - 1, sequence: 0, isDelete: true),
        ]
        #expect(try RunFile(entries).open().entries() == entries)
    }

    /// If all sequence numbers are equal, only the deletes need bytes.
    @Test func keepsDeletesOfOneTransaction() throws {
        let entries = (0..<1_000).map { number in
            TestEntry(key: row(number, byteCount: 8), id: 5, sequence: 9, isDelete: number % 300 == 299)
        }
        #expect(try RunFile(entries).open().entries() == entries)
    }

    /// Bytes of the blocks, with those of the block index, of a run with one entry for each employee.
    private func byteCount(_ count: Int, _ key: (_ id: UInt64) -> [UInt8]) throws -> Double {
        var entries: [TestEntry] = []
        for id in 1...UInt64(count) {
            entries.append(TestEntry(key: key(id), id: id, sequence: (id - 1) / 10_000 + 5))
        }
        let footer = try RunFile(entries.sorted()).open().footer
        return Double(footer.filterOffset - 64) / Double(count)
    }

    private func bytes(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    /// Saves of 10,000 employees, each with an e-mail address of 24 bytes in no order, 21 of them distinctive.
    @Test func takesThirtyBytesAnEntryOfAUniqueIndex() throws {
        var random = Seed(1)
        let digits = Array("0123456789abcdef".utf8)
        let end = Array("@ex.test".utf8) + [0, 0] as [UInt8]
        let size = try byteCount(100_000) { _ -> [UInt8] in
            let digits = (0..<16).map { _ -> UInt8 in random.pick(digits) }
            return [1] + digits + end
        }
        #expect(size < 29.7)
    }

    /// The same employees by department and order key.
    @Test func takesSevenBytesAnEntryOfARelationshipIndex() throws {
        var random = Seed(1)
        // The bytes of the order key that are not zero; docs/FileFormat.md 13.5.
        let size = try byteCount(100_000) { id -> [UInt8] in
            let order: [UInt8] = bytes(id << 16)
            let owner: [UInt8] = bytes(UInt64(random.below(100) + 1))
            return owner + Array(order.prefix(id & 0xFF == 0 ? 5 : 6))
        }
        #expect(size < 6.9)
    }
}
