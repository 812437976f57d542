import Faultline
import FaultlineLog
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Testing

/// Ranks are those of the objects that there are, and pages of ranked objects are their whole list.
@Suite struct SearchRankTests {
    private static let queries = ["sea", "sea* OR boat", "winter red", "\"red boat\"", "NOT sea"]

    private func compare(_ context: ModelContext, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let memos = try context.fetch(FetchDescriptor<Memo>())
        let documents = memos.map { (serial: $0.serial, texts: [$0.title, $0.body]) }
        for text in Self.queries {
            let expected = try TextReference(text, fields: ["title", "body"]).hits(documents, weights: [2, 0.5])
            let scores = Dictionary(uniqueKeysWithValues: expected.map { ($0.serial, $0.score) })
            let hits = try context.search(Memo.self, text)
            #expect(hits.count == expected.count, "\(text)", sourceLocation: sourceLocation)
            for hit in hits {
                let score = try #require(scores[hit.object.serial])
                #expect(abs(hit.score - score) < 1e-9, "\(text)", sourceLocation: sourceLocation)
            }
        }
    }

    private func insert(_ count: Int, into context: ModelContext, _ serial: inout Int, _ random: inout Seed) {
        for _ in 0..<count {
            let memo = Memo(serial)
            serial += 1
            context.insert(memo)
            memo.title = Memo.text(random.below(4), &random)
            memo.body = random.below(4) == 0 ? nil : Memo.text(random.below(9), &random)
        }
    }

    @Test(arguments: Seed.list(24, unoptimized: 8)) func `deletions that a merge has dropped count`(seed: Seed) throws {
        var random = seed
        let store = try TestStore(Memo.self)
        let context = store.context()
        var serial = 0
        insert(12, into: context, &serial, &random)
        try context.save()
        for _ in 0..<14 {
            var memos = try context.fetch(FetchDescriptor<Memo>())
            switch random.below(6) {
            case 0: insert(1 + random.below(3), into: context, &serial, &random)
            case 1...3:
                memos.shuffle(using: &random)
                for memo in memos.prefix(1 + random.below(2)) { context.delete(memo) }
            default:
                let memo = memos.randomElement(using: &random)
                memo?.body = Memo.text(random.below(9), &random)
            }
            try context.save()
            // Drops the entries of deletions.
            if random.below(2) == 0 { try store.container.checkpoint() }
            if random.below(4) == 0 { _ = try store.container.compact() }
            if random.below(3) != 0 { try compare(context) }
        }
        try compare(context)
        try compare(store.reopened())
    }

    @Test func `the lengths of all objects are added once, and then those that saves have changed`() throws {
        var random = Seed(4)
        let store = try TestStore(Memo.self)
        let context = store.context()
        var serial = 0
        insert(20, into: context, &serial, &random)
        try context.save()
        for round in 0..<10 {
            try compare(context)
            insert(2, into: context, &serial, &random)
            let memos = try context.fetch(FetchDescriptor<Memo>())
            memos[round].body = round % 3 == 0 ? String(repeating: "red boat ", count: 600) : "sea \(round)"
            try context.save()
            context.delete(memos[round + 4])
            memos[round].title = "winter"
            try context.save()
        }
        try compare(context)
        #expect(store.container.rowStore.textTotals.countingCount == 1)
        try store.container.checkpoint()
        context.delete(try #require(try context.fetch(FetchDescriptor<Memo>()).first))
        try context.save()
        try compare(context)
        #expect(store.container.rowStore.textTotals.countingCount <= 2)
    }

    @Test(arguments: Seed.list(40, unoptimized: 12)) func `pages over stored, changed and new objects`(
        seed: Seed
    ) throws {
        var random = seed
        let store = try TestStore(Memo.self, place: .memory)
        let context = store.context()
        var serial = 0
        insert(random.below(20), into: context, &serial, &random)
        try context.save()
        for memo in try context.fetch(FetchDescriptor<Memo>()) where random.below(3) == 0 {
            if random.below(4) == 0 { context.delete(memo) } else { memo.title += " sea" }
        }
        insert(random.below(20), into: context, &serial, &random)
        for text in Self.queries {
            let all = try context.search(Memo.self, text)
            var search = SearchDescriptor<Memo>(text, limit: 1 + random.below(4))
            var pages: [Int] = []
            repeat {
                let page = try context.search(search)
                #expect(page.count == all.count)
                pages += page.hits.map(\.object.serial)
                search.cursor = page.cursor
            } while search.cursor != nil && pages.count <= all.count
            #expect(pages == all.map(\.object.serial), "\(text)")
        }
    }

    @Test func `a cursor is one of the class, and of a new object until the save`() throws {
        let store = try TestStore(Memo.self, Posters.Poster.self)
        let context = store.context()
        for number in 0..<4 {
            let memo = Memo(number)
            memo.title = "sea"
            context.insert(memo)
            context.insert(Posters.Poster("sea", text: "boat"))
        }
        let new = try #require(try context.search(SearchDescriptor<Memo>("sea", limit: 2)).cursor)
        let decoded = try JSONDecoder().decode(SearchCursor.self, from: JSONEncoder().encode(new))
        try context.save()
        let stored = try #require(try context.search(SearchDescriptor<Memo>("sea", limit: 2)).cursor)
        var memos = SearchDescriptor<Memo>("sea")
        memos.cursor = stored
        #expect(try context.search(memos).hits.map(\.object.serial) == [2, 3])
        // Its object has another place since the save.
        for old in [new, decoded] {
            memos.cursor = old
            #expect(throws: SearchError.self) { try context.search(memos) }
        }
        memos.cursor = stored
        memos.sortBy = [SortDescriptor(\.serial)]
        #expect(throws: SearchError.self) { try context.search(memos) }
        var posters = SearchDescriptor<Posters.Poster>("sea")
        posters.cursor = stored
        let error = #expect(throws: SearchError.self) { try context.search(posters) }
        #expect(error?.code == .invalidCursor && error?.message.contains("Memo") == true)
    }

    @Test(arguments: Seed.list(6, unoptimized: 2)) func `a prefix of more postings than its memory holds`(
        seed: Seed
    ) throws {
        var random = seed
        // 128 KiB for a range of objects.
        let store = try TestStore(Memo.self, memoryBudget: 1 << 20)
        let context = store.context()
        for number in 0..<300 {
            let memo = Memo(number)
            memo.body = (0..<40).map { _ in "w\(random.below(900))" }.joined(separator: " ")
            context.insert(memo)
        }
        try context.save()
        let memos = try context.fetch(FetchDescriptor<Memo>())
        let documents = memos.map { (serial: $0.serial, texts: [$0.title, $0.body]) }
        let budget = store.container.rowStore.log.budget
        let before = budget.used(for: .buffers)
        for text in ["w*", "w* NOT w1*", "\"w2* w3*\"", "w77* OR w1*"] {
            let expected = try TextReference(text, fields: ["title", "body"]).hits(documents, weights: [2, 0.5])
            let hits = try context.search(Memo.self, text)
            #expect(Set(hits.map(\.object.serial)) == Set(expected.map(\.serial)), "\(text)")
            let scores = Dictionary(uniqueKeysWithValues: expected.map { ($0.serial, $0.score) })
            for hit in hits { #expect(abs(hit.score - (scores[hit.object.serial] ?? -1)) < 1e-9, "\(text)") }
        }
        #expect(budget.used(for: .buffers) == before)
    }
}
