import Faultline
import FaultlineLog
import FaultlineObjects
import FaultlineRepair
import FaultlineStore
import FaultlineTestSupport
import FaultlineText
import Foundation
import Testing

/// Text indexes follow all changes, and searches by them find the objects with the words.
@Suite struct TextIndexTests {
    /// Compares the two indexes of notes with the stored notes.
    private func compare(_ container: ModelContainer, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let rows = container.rowStore
        let entity = try #require(rows.storage.entity(named: "Memo"))
        let snapshot = rows.log.snapshot()
        let notes = try ModelContext(container).fetch(FetchDescriptor<Memo>())
        #expect(entity.textIndexes.map(\.names) == [["title", "body"], ["tag"]])
        for (index, texts) in zip(
            entity.textIndexes, [{ [$0.title, $0.body] }, { [$0.tag] }] as [(Memo) -> [String?]])
        {
            let expected = TextEntries(notes.map { (RecordID($0.persistentModelID.primaryKey ?? 0), texts($0)) })
            let found = try TextEntries(of: index, at: snapshot)
            #expect(found.aside == expected.aside, sourceLocation: sourceLocation)
            #expect(found.lengths == expected.lengths, sourceLocation: sourceLocation)
            #expect(found.postings == expected.postings, sourceLocation: sourceLocation)
        }
    }

    private static let queries = [
        "sea", "sea*", "SEA winter", "sea OR winter", "sea NOT winter", "NOT sea", "\"red boat\"", "\"boat red boat\"",
        "title:sea body:sea*", "NEAR(sea red, 3)", "NEAR(\"red boat\" sea* winter, 20)",
        "(sea OR boat*) NOT \"red boat\"",
        "ZURICH", "мор*", "θαλασσα", "海辺", "町", "바다", "2026 OR 3.14", "\"don't\"", "naive aside", "body:(sea seal)",
        "boat boat", "title:(NOT sea)", "nothing", "(sea winter) OR red", "x*",
    ]

    /// Compares searches of a context with searches of each text by itself.
    private func search(
        _ context: ModelContext, _ queries: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let notes = try context.fetch(FetchDescriptor<Memo>())
        let documents = notes.map { (serial: $0.serial, texts: [$0.title, $0.body]) }
        for text in queries {
            let expected = try TextReference(text, fields: ["title", "body"]).hits(documents, weights: [2, 0.5])
            let hits = try context.search(Memo.self, text)
            #expect(
                Set(hits.map(\.object.serial)) == Set(expected.map(\.serial)), "\(text)",
                sourceLocation: sourceLocation)
            let scores = Dictionary(uniqueKeysWithValues: expected.map { ($0.serial, $0.score) })
            for hit in hits {
                let score = try #require(scores[hit.object.serial])
                #expect(abs(hit.score - score) < 1e-9, "\(text)", sourceLocation: sourceLocation)
            }
            #expect(zip(hits, hits.dropFirst()).allSatisfy { $0.score >= $1.score }, "\(text)")
            #expect(try context.searchCount(SearchDescriptor<Memo>(text)) == expected.count, "\(text)")
            var narrowed = SearchDescriptor<Memo>(text, limit: 3)
            narrowed.predicate = #Predicate { $0.year > 2 }
            narrowed.sortBy = [SortDescriptor(\.serial, order: .reverse)]
            let results = try context.search(narrowed)
            let wanted = expected.map(\.serial).filter { serial in notes.contains { $0.serial == serial && $0.year > 2 }
            }
            #expect(results.count == wanted.count, "\(text)", sourceLocation: sourceLocation)
            #expect(results.hits.map(\.object.serial) == Array(wanted.sorted(by: >).prefix(3)), "\(text)")
        }
    }

    @Test(arguments: 1...UInt64(TestSize.of(3, unoptimized: 1)))
    func `they follow random changes, reopenings, kills and compaction`(seed: UInt64) throws {
        var random = Seed(seed)
        let store = try TestStore(Memo.self)
        var context = store.context()
        var count = 0
        for round in 0..<9 {
            for _ in 0..<12 {
                let note = Memo(count)
                count += 1
                context.insert(note)
                note.fill(&random)
            }
            if round % 3 == 1 { try search(context, Self.queries) }
            try context.save()
            let other = store.context()
            for note in try other.fetch(FetchDescriptor<Memo>()) where random.below(3) == 0 {
                switch random.below(4) {
                case 0: other.delete(note)
                case 1: note.year += 1
                case 2: note.title += " sea"
                default: note.fill(&random)
                }
            }
            if round % 3 == 2 { try search(other, Self.queries) }
            try other.save()
            // The objects of the first context are older now: its changes are merged into the rows that the other has
            // saved.
            for note in try context.fetch(FetchDescriptor<Memo>()) where random.below(4) == 0 {
                if random.below(2) == 0 { note.title += " boat" } else { note.year += 1 }
            }
            try context.save()
            try compare(store.container)
            if round % 4 == 3 { _ = try store.container.compact() }
            if round % 4 == 1 { try killed(store) }
            if round % 3 == 2 { context = try store.reopened() } else { try store.verify() }
            try compare(store.container)
        }
        try search(context, Self.queries)
    }

    /// Opens a copy of the files of a store that is open: as they are after a kill.
    private func killed(_ store: TestStore) throws {
        let folder = TemporaryDirectory()
        let copy = URL(filePath: "\(folder.path)/copy.store")
        let original = try #require(store.url)
        try FileManager.default.copyItem(at: original, to: copy)
        let container = try ModelContainer(for: Memo.self, configurations: ModelConfiguration(url: copy))
        try verify(container)
        try compare(container)
        try container.close()
    }

    @Test func `an index is built over existing objects, and dropped when no model declares it`() throws {
        var random = Seed(7)
        let folder = TemporaryDirectory()
        let configuration = ModelConfiguration(url: URL(filePath: "\(folder.path)/notes.store"))
        do {
            let container = try ModelContainer(for: PlainMemos.Memo.self, configurations: configuration)
            let context = ModelContext(container)
            for number in 0..<200 {
                let note = PlainMemos.Memo(number)
                note.title = Memo.text(4, &random)
                note.body = random.below(3) == 0 ? nil : Memo.text(number == 7 ? 900 : 20, &random)
                context.insert(note)
            }
            try context.save()
            #expect(throws: SearchError.self) { try context.search(PlainMemos.Memo.self, "sea") }
            try container.close()
        }
        func readCompatible() throws -> UInt8 {
            try #require(FileManager.default.contents(atPath: "\(folder.path)/notes.store/IDENTITY"))[72]
        }
        #expect(try readCompatible() == 1)
        do {
            // Reads all rows while the index is not there.
            let reading = ModelConfiguration(url: configuration.url, allowsSave: false)
            let reader = try ModelContainer(for: Memo.self, configurations: reading)
            let context = ModelContext(reader)
            #expect(try !context.explain(SearchDescriptor<Memo>("sea")).isIndexed)
            try search(context, Self.queries)
            try reader.close()
        }
        do {
            let container = try ModelContainer(for: Memo.self, configurations: configuration)
            try compare(container)
            #expect(try readCompatible() == 32 | 16 | 8 | 1)
            let context = ModelContext(container)
            let explanation = try context.explain(SearchDescriptor<Memo>("sea"))
            #expect(explanation.isIndexed && explanation.rowsRead == 1)
            try search(context, Self.queries)
            try container.close()
        }
        let container = try ModelContainer(for: PlainMemos.Memo.self, configurations: configuration)
        try container.checkpoint()
        #expect(container.rowStore.log.indexIDs == [])
        try container.close()
    }

    @Test func `a store of another version of the tokenizer builds its index anew`() throws {
        var random = Seed(8)
        let folder = TemporaryDirectory()
        let configuration = ModelConfiguration(url: URL(filePath: "\(folder.path)/memos.store"))
        var old: [StoredTextIndex] = []
        do {
            let container = try ModelContainer(for: Memo.self, configurations: configuration)
            let context = ModelContext(container)
            for number in 0..<20 {
                let memo = Memo(number)
                memo.fill(&random)
                context.insert(memo)
            }
            try context.save()
            var map = container.rowStore.storage.map
            old = try #require(map.entities[0].textIndexes)
            map.entities[0].textIndexes?[0].version = 0
            map.entities[0].textIndexes?[1].tokenizer = "others"
            let schema = container.rowStore.storage.schema
            _ = try container.rowStore.log.write(author: nil) { transaction in
                try StoredCatalog.write(schema, map, newLayouts: [], in: &transaction)
            }
            try container.close()
        }
        do {
            let reading = ModelConfiguration(url: configuration.url, allowsSave: false)
            let reader = try ModelContainer(for: Memo.self, configurations: reading)
            let context = ModelContext(reader)
            #expect(try !context.explain(SearchDescriptor<Memo>("sea")).isIndexed)
            try search(context, Self.queries)
            try verify(reader)
            try reader.close()
        }
        let container = try ModelContainer(for: Memo.self, configurations: configuration)
        let new = try #require(container.rowStore.storage.map.entities[0].textIndexes)
        #expect(new.map(\.columns) == old.map(\.columns))
        #expect(Set(new.map(\.index)).isDisjoint(with: old.map(\.index)))
        try compare(container)
        try verify(container)
        try container.close()
    }

    /// Checks every record and index entry.
    private func verify(_ container: ModelContainer, sourceLocation: SourceLocation = #_sourceLocation) throws {
        var findings: [String] = []
        try container.rowStore.log.verify({ findings.append("\($0)") }, progress: { _, _ in })
        #expect(findings == [], sourceLocation: sourceLocation)
    }

    @Test func `a lost posting is found by verification, and missed by a search`() throws {
        let store = try TestStore(Memo.self)
        let context = store.context()
        for number in 0..<10 {
            let memo = Memo(number)
            memo.title = "sea \(number)"
            context.insert(memo)
        }
        try context.save()
        let rows = store.container.rowStore
        let index = try #require(rows.storage.entity(named: "Memo")?.textIndexes.first)
        var lost: (key: [UInt8], id: RecordID)?
        try rows.log.snapshot().forEachEntry(
            in: index.definition, prefix: UnsafeRawBufferPointer(start: nil, count: 0)
        ) { key, id in
            if key.starts(with: Array("sea".utf8)) { lost = (Array(key), id) }
            return true
        }
        let (key, id) = try #require(lost)
        _ = try rows.log.write(author: nil) { transaction in
            try StoredCatalog.write(rows.storage.schema, rows.storage.map, newLayouts: [], in: &transaction)
            try key.withUnsafeBytes { try transaction.removeEntry(index.definition, key: $0, id: id) }
        }
        #expect(try context.search(Memo.self, "sea").count == 9)
        var findings: [String] = []
        try rows.log.verify({ findings.append("\($0)") }, progress: { _, _ in })
        #expect(findings == ["contradiction: Index \(index.definition.id.rawValue) lacks an entry of object \(id)."])
    }

    @Test func `pages, facets, highlights and chosen properties`() throws {
        let store = try TestStore(Memo.self)
        let context = store.context()
        for number in 0..<25 {
            let note = Memo(number)
            note.title = "sea \(number)"
            note.body = number % 2 == 0 ? "a red boat in the sea" : nil
            note.year = number % 3
            context.insert(note)
        }
        try context.save()
        var search = SearchDescriptor<Memo>("sea", limit: 10)
        search.facets = [\.year, \.body]
        search.includesHighlights = true
        var serials: [Int] = []
        repeat {
            let page = try context.search(search)
            #expect(page.count == 25)
            #expect(page.facets[0].map(\.count) == [9, 8, 8])
            #expect(page.facets[0].map { $0.value as? Int } == [0, 1, 2])
            #expect(page.facets[1].map { $0.value as? String } == ["a red boat in the sea", nil])
            serials += page.hits.map(\.object.serial)
            for hit in page.hits {
                #expect(hit.highlights.first == SearchHighlight(property: "title", ranges: [0..<3]))
                #expect(hit.highlights.count == (hit.object.body == nil ? 1 : 2))
            }
            search.cursor = page.cursor
        } while search.cursor != nil
        #expect(serials.sorted() == Array(0..<25))
        var boats = SearchDescriptor<Memo>("boat OR sea")
        boats.properties = [\.body]
        #expect(try context.searchCount(boats) == 13)
        boats.query = .all([.property("title", .phrase("sea")), .not(.prefix("BOA"))])
        boats.properties = []
        #expect(try context.searchCount(boats) == 12)
        boats.properties = [\.year]
        #expect(throws: SearchError.self) { try context.searchCount(boats) }
        let part = SearchHighlight(property: "body", ranges: [18..<21]).snippet(of: "a red boat in the sea", count: 8)
        #expect(part.text == "the sea" || part.text.hasSuffix("sea"))
        #expect(part.ranges.map { String(part.text[$0]) } == ["sea"])
    }

    @Test func `a query that is none, and a prefix of too many words, are errors with a place`() throws {
        let store = try TestStore(Memo.self)
        let context = store.context()
        for number in 0..<30 {
            let note = Memo(number)
            note.body = (0..<50).map { "w\(number * 50 + $0)" }.joined(separator: " ")
            context.insert(note)
        }
        try context.save()
        let unbalanced = #expect(throws: TextQueryError.self) { try context.search(Memo.self, "sea (boat") }
        #expect(unbalanced?.code == .unbalanced && unbalanced?.offset == 4)
        let short = #expect(throws: TextQueryError.self) { try context.search(Memo.self, "sea OR w*") }
        #expect(short?.code == .prefixTooShort && short?.offset == 7)
        #expect(try context.search(Memo.self, "w12*").count == 4)
    }
}
