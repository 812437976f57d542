import Faultline
import FaultlineLog
import FaultlineObjects
import FaultlineTestSupport
import Testing

struct RecentRowsTests {
    /// A reference for a number and the time at which it was recorded.
    private func reference(_ number: RecordID, _ time: Int) -> RowReference {
        RowReference(block: Int(number % 50_000), generation: UInt64(time + 1), offset: 8 * (time % 1_000))
    }

    /// A number gives the row that was recorded for it last, or none; the newest is always there.
    @Test(arguments: Seed.list(8)) func `a number gives its last row or none`(seed: Seed) {
        var random = seed
        var table = RecentRows()
        var noted: [RecordID: RowReference] = [:]
        let bound = [300, 5_000, 200_000][random.below(3)]
        var (growthCount, shrinkCount, foundCount) = (0, 0, 0)
        for time in 0..<40_000 {
            let number = RecordID(1 + random.below(bound))
            let found = table.row(of: number)
            if found != .none {
                foundCount += 1
                #expect(found == noted[number], "\(seed.replayLine)")
            }
            let row = reference(number, time)
            let isFull = table.note(number, row)
            noted[number] = row
            // The first row of a table is not recorded.
            if time > 0, shrinkCount == 0 { #expect(table.row(of: number) == row) }
            guard isFull else { continue }
            let before = table.byteCount
            guard let growth = table.growth(whereRowsTake: random.below(4 << 20)) else { continue }
            table.grow()
            growthCount += 1
            #expect(table.byteCount == before + growth)
            #expect(table.row(of: number) == row)
            if random.oneIn(12) {
                let held = table.byteCount
                #expect(table.shrink(whereRowsTake: 0) == held)
                #expect(table.byteCount == 0)
                shrinkCount += 1
            }
        }
        #expect(growthCount > 0)
        #expect(foundCount > 0)
    }

    /// Dense numbers do not replace each other once the table is as large as they are many.
    @Test func `a grown table has all of as many rows`() {
        var table = RecentRows()
        for time in 0..<40_000 {
            let number = RecordID(time % 4_000 + 1)
            if table.note(number, reference(number, 7)), table.growth(whereRowsTake: 1 << 20) != nil { table.grow() }
        }
        for number in RecordID(1)...4_000 { #expect(table.row(of: number) == reference(number, 7)) }
        #expect(table.byteCount <= 1 << 17)
        #expect(table.growth(whereRowsTake: 1 << 16) == nil)
        #expect(table.shrink(whereRowsTake: 1 << 20) == 0)
    }

    private func filled(_ container: ModelContainer, _ count: Int) throws -> [PersistentIdentifier] {
        let writer = ModelContext(container)
        for number in 0..<count { writer.insert(Plain(number: number, text: String(repeating: "t", count: 150))) }
        try writer.save()
        return try writer.fetchIdentifiers(FetchDescriptor<Plain>())
    }

    @Test func `objects that are let go and asked for again need no row read`() throws {
        let container = try makeContainer()
        let identifiers = try filled(container, 5_000)
        let context = ModelContext(container)
        var random = Seed(3)
        var readCounts: [Int] = []
        for _ in 0..<6 {
            let before = context.counters
            for place in (0..<5_000).shuffled(using: &random) {
                #expect((context.model(for: identifiers[place]) as? Plain)?.number == place)
            }
            readCounts.append((context.counters - before).rowsRead)
        }
        #expect(readCounts[5] == 0, "\(readCounts)")
    }

    /// Rows in memory are used only as long as they are the newest.
    @Test(arguments: Seed.list(6)) func `objects asked for again show the state of their context`(seed: Seed) throws {
        var random = seed
        let container = try makeContainer()
        let identifiers = try filled(container, 1_200)
        let (context, other) = (ModelContext(container), ModelContext(container))
        var numbers = Array(0..<1_200)
        var seen = numbers
        for _ in 0..<40 {
            for place in (0..<300).map({ _ in random.below(1_200) }) {
                let object = try #require(context.model(for: identifiers[place]) as? Plain)
                #expect(object.number == seen[place], "\(seed.replayLine)")
                if random.oneIn(20) {
                    numbers[place] = 10_000 + numbers[place]
                    let changed = try #require(other.model(for: identifiers[place]) as? Plain)
                    changed.number = numbers[place]
                    try other.save()
                }
                if random.oneIn(100) {
                    // A fetch moves the context on.
                    _ = try context.fetchCount(FetchDescriptor<Plain>())
                    seen = numbers
                }
            }
        }
    }
}
