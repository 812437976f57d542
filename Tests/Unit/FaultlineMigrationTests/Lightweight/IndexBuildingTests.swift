import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Testing

/// Indexes that a version adds, removes or changes.
struct IndexBuildingTests {
    private static let count = 500

    private func makeBooks(_ stores: Stores) throws {
        try stores.use(Books1.self) { _, context in
            for number in 0..<Self.count {
                let book = Books1.Book("title \(number % 100)", pages: Int32(number))
                book.shelf = number % 3 == 0 ? nil : "shelf \(number % 7)"
                context.insert(book)
            }
            try context.save()
        }
    }

    /// For each index of books: its number of entries, and how many of them have no key of their own.
    private func entries(_ container: ModelContainer) throws -> [[Int]] {
        let rows = container.rowStore
        let entity = try #require(rows.storage.entity(named: "Book"))
        return try entity.secondaryIndexes.map { index in
            var counts = [0, 0]
            try rows.log.snapshot().forEachEntry(
                in: index.definition, prefix: UnsafeRawBufferPointer(start: nil, count: 0)
            ) { key, _ in
                counts[0] += 1
                if key[0] == SecondaryIndex.asideMark { counts[1] += 1 }
                return true
            }
            return counts
        }
    }

    private func readCompatible(_ stores: Stores) throws -> UInt8 {
        try #require(FileManager.default.contents(atPath: stores.directory + "/IDENTITY"))[72]
    }

    @Test func `they are built when the container is made, and dropped when no model names them`() throws {
        let stores = Stores(isOnDisk: true)
        try makeBooks(stores)
        try #expect(readCompatible(stores) == 0)
        try stores.use(IndexedBooks1.self) { container, context in
            try #expect(entries(container) == [[Self.count, 0], [Self.count, 0]])
            #expect(container.migrationReport.versions == ["1.0.0", "1.0.0"])
            let book = try #require(try context.all(IndexedBooks1.Book.self).first)
            book.title = "another"
            context.insert(IndexedBooks1.Book("new", pages: 1))
            try context.save()
            try #expect(entries(container) == [[Self.count + 1, 0], [Self.count + 1, 0]])
        }
        try #expect(readCompatible(stores) == 8)
        try stores.use(IndexedBooks1.self) { container, _ in
            #expect(container.migrationReport.versions.isEmpty)
            try #expect(entries(container) == [[Self.count + 1, 0], [Self.count + 1, 0]])
        }
        try #expect(stores.findings(IndexedBooks1.self) == [])
        try stores.use(Books1.self) { container, context in
            try #expect(entries(container) == [])
            try container.checkpoint()
            #expect(container.rowStore.log.indexIDs == [])
            #expect(container.migrationReport.versions.isEmpty)
            try #expect(context.fetchCount(FetchDescriptor<Books1.Book>()) == Self.count + 1)
        }
        try #expect(stores.findings(Books1.self) == [])
    }

    @Test func `a new store has them from the start, and says so before its catalog does`() throws {
        let stores = Stores(isOnDisk: true)
        try stores.use(IndexedBooks1.self) { container, _ in
            try #expect(readCompatible(stores) == 8)
            try #expect(entries(container) == [[0, 0], [0, 0]])
        }
    }

    @Test func `a store of an earlier release, which ignored them, gets them`() throws {
        let stores = Stores()
        try makeBooks(stores)
        try stores.use(IndexedBooks1.self) { container, _ in
            var map = container.rowStore.storage.map
            map.entities[0].secondaryIndexes = nil
            let schema = container.rowStore.storage.schema
            _ = try container.rowStore.log.write(author: nil) { transaction in
                try StoredCatalog.write(schema, map, newLayouts: [], in: &transaction)
            }
        }
        try stores.use(IndexedBooks1.self) { container, _ in
            try #expect(entries(container) == [[Self.count, 0], [Self.count, 0]])
        }
        try #expect(stores.findings(IndexedBooks1.self) == [])
    }

    @Test func `rows that are older than an attribute are set aside until they are written anew`() throws {
        let stores = Stores()
        try makeBooks(stores)
        try stores.use(IndexedBooks1.self) { _, _ in }
        let older = [[Self.count, 0], [Self.count, 500], [Self.count, 500], [Self.count, 500]]
        try stores.use(Books2.self) { container, context in
            var found = try entries(container)
            // The books without a shelf, which now has a default.
            #expect(found[1][1] == 167)
            found[1][1] = 500
            #expect(found == older)
            let books = try context.all(Books2.Book.self)
            for book in books[..<10] { book.title += "!" }
            try context.save()
            try #expect(entries(container)[2] == [Self.count, 490])
            context.delete(books[0])
            context.delete(books[400])
            try context.save()
            try #expect(entries(container)[2] == [Self.count - 2, 489])
        }
        try #expect(stores.findings(Books2.self) == [])
        try stores.use(Books2.self) { container, context in
            try #expect(container.rewrite().writtenCount == 489)
            try #expect(entries(container) == Array(repeating: [Self.count - 2, 0], count: 4))
            try #expect(context.all(Books2.Book.self).filter { $0.shelf == "floor" }.count == 166)
        }
        try #expect(stores.findings(Books2.self) == [])
    }

    @Test func `an index that another container has dropped says nothing`() throws {
        let stores = Stores(isOnDisk: true)
        try makeBooks(stores)
        try stores.use(IndexedBooks1.self) { container, context in
            let wanted = FetchDescriptor<IndexedBooks1.Book>(predicate: #Predicate { $0.title == "title 5" })
            try #expect(context.fetch(wanted).count == 5)
            try stores.use(Books1.self) { other, _ in
                try #expect(entries(other) == [])
                let context = ModelContext(container)
                try #expect(context.fetch(wanted).count == 5)
                try #expect(context.fetchCount(wanted) == 5)
                var first = FetchDescriptor<IndexedBooks1.Book>(sortBy: [SortDescriptor(\.title)])
                first.fetchLimit = 3
                try #expect(context.fetch(first).map(\.title) == ["title 0", "title 0", "title 0"])
            }
        }
    }

    @Test func `a value that leaves its row when it is unique no more takes its key along`() throws {
        let stores = Stores()
        try stores.use(Codes1.self) { _, context in
            for number in 0..<20 { context.insert(Codes1.Part("code \(number)")) }
            try context.save()
        }
        try stores.use(Codes2.self) { _, context in
            let parts = try context.all(Codes2.Part.self)
            for part in parts { part.weight = 1 }
            try context.save()
            for part in parts[..<10] { part.code += "!" }
            try context.save()
            context.delete(parts[0])
            context.delete(parts[15])
            try context.save()
            let wanted = FetchDescriptor<Codes2.Part>(predicate: #Predicate { $0.code == "code 5!" })
            try #expect(context.fetch(wanted).map(\.weight) == [1])
        }
        try #expect(stores.findings(Codes2.self) == [])
    }

    @Test func `a reader opens a store without an index that is not built`() throws {
        let stores = Stores(isOnDisk: true)
        try makeBooks(stores)
        let configuration = ModelConfiguration(url: URL(filePath: stores.directory), allowsSave: false)
        let container = try ModelContainer(for: IndexedBooks1.Book.self, configurations: configuration)
        try #expect(entries(container) == [])
        try #expect(ModelContext(container).fetchCount(FetchDescriptor<IndexedBooks1.Book>()) == Self.count)
        try container.close()
    }
}
