import Faultline
import FaultlineLog
import FaultlineStore
import FaultlineText
import Foundation
import Testing

/// The properties that a search is limited to, the texts that no index has, and parts of texts.
@Suite struct SearchedPropertyTests {
    @Test func `properties limit words, fields and highlights`() throws {
        let store = try TestStore(Memo.self)
        let context = store.context()
        for (number, (title, body)) in [("sea boat", "red sea"), ("boat", "sea"), ("sea", "red")].enumerated() {
            let memo = Memo(number)
            memo.title = title
            memo.body = body
            context.insert(memo)
        }
        try context.save()
        var search = SearchDescriptor<Memo>("sea NOT boat")
        search.properties = [\.body]
        search.includesHighlights = true
        let results = try context.search(search)
        // The boats of titles play no part.
        #expect(results.hits.map(\.object.serial).sorted() == [0, 1])
        for hit in results.hits {
            let start = hit.object.serial == 0 ? 4 : 0
            #expect(hit.highlights == [SearchHighlight(property: "body", ranges: [start..<start + 3])])
        }
        search.query = "body:sea"
        #expect(try context.searchCount(search) == 2)
        search.query = "sea OR title:boat"
        let error = #expect(throws: TextQueryError.self) { try context.search(search) }
        #expect(error?.code == .unknownField && error?.offset == 7)
        #expect(error?.message.contains("Use one of `body`") == true)
        search.query = .property("title", .word("boat"))
        #expect(throws: TextQueryError.self) { try context.search(search) }
        search.properties = [\.body, \.title]
        #expect(try context.searchCount(search) == 2)
        search.query = "title:sea body:red"
        search.properties = []
        #expect(try context.searchCount(search) == 2)
    }

    @Test func `texts that are stored externally are in no index`() throws {
        let store = try TestStore(Posters.Poster.self, Posters.Scroll.self)
        let context = store.context()
        for number in 0..<20 { context.insert(Posters.Poster("sea \(number)", text: "boat")) }
        context.insert(Posters.Scroll("sea"))
        try context.save()
        let explanation = try context.explain(SearchDescriptor<Posters.Poster>("sea"))
        #expect(explanation.properties == ["title"] && explanation.isIndexed)
        #expect(explanation.foundCount == 20 && explanation.rowsRead == 0)
        #expect(try context.search(Posters.Poster.self, "boat").isEmpty)
        let error = #expect(throws: SearchError.self) { try context.search(Posters.Scroll.self, "sea") }
        #expect(error?.code == .noTextIndex && error?.message.contains(".externalStorage") == true)
        try store.reopen()
    }

    @Test func `an index that names one is refused`() throws {
        let error = #expect(throws: SchemaError.self) {
            try ModelContainer(
                for: Posters.Wall.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        }
        #expect(error?.code == .invalidTextIndex && error?.propertyName == "text")
    }

    @Test func `a part of a text passes over places that it does not have`() {
        let text = "a red boat in the sea"
        let highlight = SearchHighlight(property: "body", ranges: [-3..<2, 2..<5, 18..<900, Int.max - 1..<Int.max])
        for count in [Int.min, -1, 0, 1, 6, .max] {
            let part = highlight.snippet(of: text, count: count)
            #expect(part.text.count <= max(0, count))
            #expect(part.ranges.allSatisfy { part.text[$0] == "red" })
        }
        #expect(highlight.snippet(of: "", count: 4).text.isEmpty)
    }

    @Test func `a row that names another size than its value has is malformed`() throws {
        let store = try TestStore(Memo.self)
        let context = store.context()
        let memo = Memo(0)
        memo.body = String(repeating: "sea ", count: 2_000)
        context.insert(memo)
        try context.save()
        let snapshot = store.container.rowStore.log.snapshot()
        #expect(try snapshot.bytes(of: BlobReference(identifier: 1, byteCount: 8_000)).count == 8_000)
        for size in [0, 7_999, 8_001, UInt64(1) << 40, .max] {
            let error = #expect(throws: StoreError.self) {
                try snapshot.bytes(of: BlobReference(identifier: 1, byteCount: size))
            }
            #expect(error?.code == .malformed)
        }
    }
}
