import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Runs of text indexes, whose entries lie in blocks of postings.
struct PostingRunTests {
    private static let definition = TestPostings.definition

    private func run(_ entries: [TestEntry], auxiliaryByteCountMax: Int = 2 << 20) throws -> RunFile {
        try RunFile(entries, definition: Self.definition, auxiliaryByteCountMax: auxiliaryByteCountMax)
    }

    @Test(arguments: Seed.list(60, unoptimized: 20)) func hasTheEntriesThatWereWritten(seed: Seed) throws {
        var random = seed
        let postings = TestPostings(&random)
        let entries = postings.entries(random.pick([1, 2, 300, 4_000]), &random)
        // A small part of memory: the block index and the filter are made by reading the blocks again.
        let file = try run(entries, auxiliaryByteCountMax: random.oneIn(2) ? 2 << 20 : 256)
        let opened = try file.open()
        try opened.verify()
        #expect(try opened.entries() == entries, "\(seed.replayLine)")
        for _ in 0..<60 {
            var key = random.pick(entries).key
            if random.oneIn(2), !key.isEmpty { key[random.below(key.count)] = UInt8(random.below(256)) }
            if random.oneIn(3) { key.removeLast(random.below(key.count + 1)) }
            let cursor = try key.withUnsafeBytes { bytes in try opened.cursor(from: bytes) as RunCursor }
            let expected = entries.drop { $0.key.lexicographicallyPrecedes(key) }.prefix(random.pick([1, 5, 900]))
            for entry in expected {
                #expect(try cursor.advance())
                let found = TestEntry(
                    key: cursor.keyArray, id: cursor.id, sequence: cursor.sequence, isDelete: cursor.isDelete)
                #expect(found == entry, "\(seed.replayLine)")
            }
            let limit = random.oneIn(2) ? UInt64.max : random.pick(entries).sequence
            let newest = entries.filter { $0.key == key && $0.sequence <= limit }.map(\.sequence).max()
            #expect(try opened.finding(key, at: limit)?.sequence == newest, "\(seed.replayLine)")
        }
        for entry in entries {
            let hash = entry.key.withUnsafeBytes { IndexHash.hash($0, prefixByteCountMax: 9) }
            #expect(try opened.mayContain(prefixHash: hash))
        }
    }

    /// Runs of either form, merged into one.
    @Test(arguments: Seed.list(30, unoptimized: 10)) func mergesLikeAList(seed: Seed) throws {
        var random = seed
        let postings = TestPostings(&random)
        let all = postings.entries(2_000, &random)
        let ages = all.map(\.sequence).sorted()
        let (first, second) = (ages[ages.count / 3], ages[ages.count * 2 / 3])
        let parts = [
            all.filter { $0.sequence > second }, all.filter { $0.sequence > first && $0.sequence <= second },
            all.filter { $0.sequence <= first },
        ]
        let runs = try parts.map { part in
            // Older releases wrote all entries in blocks of another form.
            let isOld = random.oneIn(3)
            let file = try RunFile(part, definition: isOld ? TestPostings.oldDefinition : Self.definition)
            return try file.open()
        }
        let output = RunFile(number: 20, definition: Self.definition)
        let writer = try RunWriter(
            file: try output.disk.open(RunFile.path, for: .creating), header: output.header,
            definition: Self.definition, level: 1, expectedEntryCount: UInt64(all.count))
        let merger = try RunMerger(runs, oldestLimit: .max, isOldestIncluded: true, into: writer)
        _ = try merger.finish()
        let expected = TestPostings.live(all, at: .max)
        #expect(try output.open().entries() == expected, "\(seed.replayLine)")
    }

    /// Objects in the order of their numbers, some in a transaction, whose words are drawn by Zipf's law.
    @Test(arguments: [1, 100]) func takesFewBytes(objectsATransaction: Int) throws {
        var random = Seed.list(1)[0]
        var entries: [TestEntry] = []
        for id in 1...3_000 as ClosedRange<UInt64> {
            let sequence = id / UInt64(objectsATransaction) + 1
            entries.append(TestEntry(key: TestPostings.key([], id, [12]), id: id, sequence: sequence))
            var terms: Set<Int> = []
            while terms.count < 12 { terms.insert(min(random.below(2_000), random.below(2_000), random.below(2_000))) }
            for term in terms {
                let key = TestPostings.key(Array("word\(term)".utf8), id, [1, UInt8(random.below(12))])
                entries.append(TestEntry(key: key, id: id, sequence: sequence))
            }
        }
        entries.sort()
        let old = try RunFile(entries, definition: TestPostings.oldDefinition).bytes().count
        let new = try run(entries).bytes().count
        // 12 bytes an entry before, and 9.
        #expect(new * 5 < old * 2, "\(new) bytes, and \(old) before")
        #expect(new < entries.count * 4, "\(new) bytes for \(entries.count) entries")
    }

    @Test func findsEveryBitThatFlips() throws {
        var random = Seed.list(1)[0]
        let entries = TestPostings(&random).entries(120, &random)
        let intact = try run(entries)
        let bytes = try intact.bytes()
        var missed: [Int] = []
        for place in 64..<bytes.count {
            var damaged = bytes
            damaged[place] ^= 1 << UInt8(place % 8)
            let file = try RunFile(damaged, like: intact)
            let found = code {
                let run = try file.open()
                try run.verify()
                _ = try run.entries()
            }
            if found != .damaged { missed.append(place) }
        }
        #expect(missed.isEmpty)
    }

    /// Invalid content with right checksums: from a broken program, or from an attacker.
    @Test(arguments: Seed.list(60, unoptimized: 20)) func neitherTrapsNorSpinsOnNonsense(seed: Seed) throws {
        var random = seed
        let postings = TestPostings(&random)
        let entries = postings.entries(400, &random)
        let intact = try run(entries)
        let bytes = try intact.bytes()
        let footer = try intact.open().footer
        for _ in 0..<60 {
            var wrong = bytes
            for _ in 0...random.below(6) {
                let place = 64 + random.below(Int(footer.indexOffset) - 64)
                wrong[place] = random.oneIn(2) ? UInt8(random.below(256)) : random.pick([0, 1, 127, 128, 255])
            }
            let file = try RunFile(ChecksumRepair.repaired(wrong, name: "r-"), like: intact)
            let found = code {
                let run = try file.open()
                let read = try run.entries()
                #expect(read == read.sorted(by: <), "\(seed.replayLine)")
                let state = IndexState(
                    definition: Self.definition, active: Memtable(definition: Self.definition), runs: [run])
                for _ in 0..<5 {
                    _ = try run.finding(random.pick(entries).key)
                    let cursor = try state.postings(term: postings.term(&random), at: .max)
                    while try cursor.advance(notBelow: cursor.id + 1) { _ = cursor.payload.count }
                }
            }
            #expect(found == nil || found == .damaged, "\(seed.replayLine)")
        }
    }
}
