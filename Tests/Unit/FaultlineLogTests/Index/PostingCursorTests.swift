import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// The objects of a term, read without keys, compared with a look at all entries.
struct PostingCursorTests {
    private static let definition = TestPostings.definition

    /// An object that a cursor found.
    private struct Found: Hashable {
        let id: RecordID
        let payload: [UInt8]
    }

    /// Entries in which no object has two live keys of a term, divided by age into memtables and runs.
    private func history(
        _ postings: TestPostings, hasDeletes: Bool = true, _ random: inout Seed
    ) -> [TestEntry] {
        var live: [[UInt8]: TestEntry] = [:]
        var all: [TestEntry] = []
        let drawn = postings.entries(random.pick([3, 400, 3_000]), &random)
            .filter { $0.key.count > 9 && $0.key.firstIndex(of: 0) != nil }
        var sequence: UInt64 = 0
        for entry in drawn.shuffled(using: &random) {
            // Longer payloads are none.
            guard let end = entry.key.firstIndex(of: 0), (end + 10...end + 4_104).contains(entry.key.count),
                TestPostings.key(Array(entry.key[..<end]), entry.id, Array(entry.key[(end + 9)...])) == entry.key
            else { continue }
            if random.oneIn(4) || sequence == 0 { sequence += 1 + UInt64(random.below(3)) }
            let place = Array(entry.key[..<(end + 9)])
            if let old = live[place] {
                guard hasDeletes else { continue }
                var delete = old
                delete.sequence = sequence
                delete.isDelete = true
                all.removeAll { $0.key == old.key && $0.id == old.id && $0.sequence == sequence }
                all.append(delete)
                live[place] = nil
                if random.oneIn(3) { continue }
            }
            if hasDeletes, live[place] == nil, random.oneIn(8), !all.contains(where: { $0.key == entry.key }) {
                // A delete whose entry a merge has dropped.
                var delete = entry
                delete.sequence = sequence
                delete.isDelete = true
                all.append(delete)
                continue
            }
            var insert = entry
            insert.sequence = sequence
            insert.isDelete = false
            all.removeAll { $0.key == insert.key && $0.id == insert.id && $0.sequence == sequence }
            all.append(insert)
            live[place] = insert
        }
        return all
    }

    /// An index with the entries in so many parts, newest first: memtables, runs of the new form and of the old one.
    private func state(_ all: [TestEntry], _ random: inout Seed) throws -> IndexState {
        let sequences = Set(all.map(\.sequence)).sorted()
        var borders = (0..<random.below(6)).map { _ in random.pick(sequences) }.sorted(by: >)
        borders.append(0)
        var parts: [[TestEntry]] = []
        var above = UInt64.max
        for border in borders {
            parts.append(all.filter { $0.sequence <= above && $0.sequence > border })
            above = border
        }
        let memtableCount = random.below(min(3, parts.count + 1))
        var memtables = [Memtable(definition: Self.definition)]
        for part in parts.prefix(memtableCount) {
            let memtable = Memtable(definition: Self.definition)
            for entry in part.sorted(by: { $0.sequence < $1.sequence }) {
                entry.key.withUnsafeBytes {
                    memtable.append(key: $0, id: entry.id, isDelete: entry.isDelete, sequence: entry.sequence)
                }
            }
            memtables.append(memtable)
        }
        let runs = try parts.dropFirst(memtableCount).filter { !$0.isEmpty }.enumerated().map { number, part in
            let definition = random.oneIn(4) ? TestPostings.oldDefinition : Self.definition
            return try RunFile(part.sorted(by: <), number: UInt64(number + 30), definition: definition).open()
        }
        return IndexState(
            definition: Self.definition, active: memtables[0], frozen: Array(memtables.dropFirst()), runs: runs)
    }

    @Test(arguments: Seed.list(80, unoptimized: 10)) func findsTheLiveObjectsOfATerm(seed: Seed) throws {
        var random = seed
        let postings = TestPostings(&random)
        let all = history(postings, &random)
        guard !all.isEmpty else { return }
        let state = try state(all, &random)
        for _ in 0..<25 {
            let limit = random.oneIn(2) ? UInt64.max : random.pick(all).sequence
            let term = postings.term(&random)
            let live = TestPostings.live(all, at: limit)
                .filter { $0.key.starts(with: term + [0]) }
                .map { Found(id: $0.id, payload: Array($0.key.dropFirst(term.count + 9))) }
            let cursor = try state.postings(term: term, at: limit)
            var expected = live[...]
            var target: RecordID = 1
            while true {
                expected = expected.drop { $0.id < target }
                let isThere = try cursor.advance(notBelow: target)
                #expect(!cursor.isMalformed)
                #expect(isThere == !expected.isEmpty, "\(seed.replayLine)")
                guard isThere, let next = expected.first else { break }
                let found = Found(id: cursor.id, payload: Array(cursor.payload))
                #expect(found == next, "\(seed.replayLine)")
                guard found == next else { break }
                // The next one, one near, or one far away.
                target = cursor.id + 1
                if random.oneIn(3) { target = random.pick(Array(expected.prefix(random.pick([3, 4_000])))).id + 1 }
            }
        }
    }

    @Test(arguments: Seed.list(80, unoptimized: 10)) func countsTheObjectsBehindAnother(seed: Seed) throws {
        var random = seed
        let postings = TestPostings(&random)
        let all = history(postings, hasDeletes: random.oneIn(2), &random)
        guard !all.isEmpty else { return }
        let state = try state(all, &random)
        for _ in 0..<25 {
            let limit = random.oneIn(2) ? UInt64.max : random.pick(all).sequence
            let term = postings.term(&random)
            var live = TestPostings.live(all, at: limit).filter { $0.key.starts(with: term + [0]) }.map(\.id)
            let cursor = try state.postings(term: term, at: limit)
            for _ in 0..<random.below(4) where !live.isEmpty && cursor.id < live.last ?? 0 {
                let target = max(random.pick(Array(live.prefix(random.pick([2, 4_000])))), cursor.id + 1)
                #expect(try cursor.advance(notBelow: target))
                live.removeAll { $0 < cursor.id }
            }
            #expect(try cursor.countRest() == live.count, "\(seed.replayLine)")
            #expect(try cursor.id == .max && cursor.countRest() == 0)
        }
    }

    /// A visited entry of a beginning.
    private struct Visited: Hashable {
        let id: RecordID
        let payload: [UInt8]
    }

    @Test(arguments: Seed.list(80, unoptimized: 10)) func visitsTheLiveEntriesOfABeginning(seed: Seed) throws {
        var random = seed
        let postings = TestPostings(&random)
        let hasDeletes = random.oneIn(3)
        let all = history(postings, hasDeletes: hasDeletes, &random)
        guard !all.isEmpty else { return }
        let state = try state(all, &random)
        let areRunsText = state.runs.allSatisfy(\.definition.isText)
        for _ in 0..<25 {
            let limit = random.oneIn(2) ? UInt64.max : random.pick(all).sequence
            let prefix = Array(postings.term(&random).prefix(1 + random.below(4)))
            guard !prefix.isEmpty else { continue }
            let first = random.oneIn(2) ? 1 : random.pick(all).id
            var visited: [Visited] = []
            let count = try state.forEachPosting(
                prefix: prefix, notBelow: first, at: limit, termCountMax: .max
            ) { _, id, payload in
                visited.append(Visited(id: id, payload: Array(payload)))
            }
            let live = TestPostings.live(all, at: limit).filter { $0.key.starts(with: prefix) }
            guard let count else {
                // Entries of longer terms lie in blocks of another form.
                let hasLong = live.contains { $0.key.firstIndex(of: 0) ?? 0 > 255 }
                #expect(hasDeletes || !areRunsText || limit != .max || hasLong, "\(seed.replayLine)")
                continue
            }
            let terms = Set(live.map { $0.key.prefix { $0 != 0 } })
            #expect(hasDeletes || count == terms.count, "\(seed.replayLine)")
            let expected = live.filter { $0.id >= first }.map { entry in
                Visited(id: entry.id, payload: Array(entry.key.drop { $0 != 0 }.dropFirst(9)))
            }
            if hasDeletes {
                // Two parts may have an entry that was deleted in between.
                #expect(Set(visited) == Set(expected), "\(seed.replayLine)")
            } else {
                #expect(Self.counted(visited) == Self.counted(expected), "\(seed.replayLine)")
            }
        }
    }

    private static func counted(_ visited: [Visited]) -> [Visited: Int] {
        Dictionary(visited.map { ($0, 1) }, uniquingKeysWith: +)
    }

    /// An object with two live keys of a term, or a key of another object, is no answer.
    @Test func saysWhatNoObjectHas() throws {
        for keys in [
            [TestPostings.key([97], 5, [1]), TestPostings.key([97], 5, [2])], [TestPostings.key([97], 6, [1])],
        ] {
            for isText in [true, false] {
                let entries = keys.map { TestEntry(key: $0, id: 5, sequence: 1) }
                let definition = isText ? Self.definition : TestPostings.oldDefinition
                let run = try RunFile(entries, definition: definition).open()
                let active = Memtable(definition: Self.definition)
                let inRun = IndexState(definition: Self.definition, active: active, runs: [run])
                let inMemory = Memtable(definition: Self.definition)
                for entry in entries {
                    entry.key.withUnsafeBytes { inMemory.append(key: $0, id: 5, isDelete: false, sequence: 1) }
                }
                for state in [inRun, IndexState(definition: Self.definition, active: inMemory)] {
                    let cursor = try state.postings(term: [97], at: .max)
                    while try cursor.advance(notBelow: cursor.id + 1) {}
                    #expect(cursor.isMalformed)
                }
            }
        }
    }
}
