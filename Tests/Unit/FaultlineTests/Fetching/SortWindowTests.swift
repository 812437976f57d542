import Faultline
import FaultlineTestSupport
import Testing

/// Fetches with an order and a limit hold little more than their results.
@Suite struct SortWindowTests {
    private static let count = 2_000

    /// Documents of which many have equal titles; every tenth has a text that is stored outside the row.
    private func store() throws -> TestStore {
        let store = try TestStore(Document.self)
        let context = store.context()
        for number in 0..<Self.count {
            let end = number % 10 == 0 ? String(repeating: "x", count: 5_000) : ""
            context.insert(Document("\(number * 379 % 97)\(end)", number: number * 31 % 500))
        }
        try context.save()
        return store
    }

    private static let orders: [[SortDescriptor<Document>]] = [
        [],
        [SortDescriptor(\.title)],
        [SortDescriptor(\.title, order: .reverse)],
        [SortDescriptor(\.number), SortDescriptor(\.title, order: .reverse)],
        [SortDescriptor(\.number, order: .reverse)],
    ]

    @Test(arguments: 0..<orders.count, [1, 7, 127, 128, 129, 1_000, Int.max])
    func isThatOfAllSorted(order: Int, limit: Int) throws {
        let store = try store()
        let context = try store.reopened()
        // Includes changed, new and deleted objects.
        for (place, document) in try context.all(Document.self).enumerated() {
            if place % 7 == 0 { document.title = "\(place % 50)" }
            if place % 11 == 0 { context.delete(document) }
        }
        for number in 0..<100 { context.insert(Document("\(number % 13)", number: number)) }
        let all = try context.fetch(FetchDescriptor<Document>(sortBy: Self.orders[order]))
        for offset in [0, 1, 300] {
            var window = FetchDescriptor<Document>(sortBy: Self.orders[order])
            window.fetchLimit = limit
            window.fetchOffset = offset
            let found = try context.fetch(window)
            let expected = limit == .max ? all.dropFirst(offset) : all.dropFirst(offset).prefix(limit)
            #expect(found.elementsEqual(expected, by: ===))
            #expect(try context.fetchIdentifiers(window) == expected.map(\.persistentModelID))
            #expect(try context.fetchCount(window) == expected.count)
        }
    }

    @Test func nothingIsReadBehindALimitWithoutAnOrder() throws {
        let context = try store().reopened()
        var descriptor = FetchDescriptor<Document>(predicate: #Predicate { $0.number < 250 })
        descriptor.fetchLimit = 5
        #expect(try context.fetch(descriptor).map(\.number) == [0, 31, 62, 93, 124])
        #expect(context.counters.rowsRead == 5)
    }

    @Test func whatComesTooLateIsNotKept() throws {
        let store = try TestStore(Photo.self)
        let writer = store.context()
        for number in 0..<20_000 {
            let photo = Photo("\(99_999 - number * 379 % 20_000)")
            photo.small = Data(repeating: UInt8(number % 256), count: 100)
            writer.insert(photo)
        }
        try writer.save()
        let context = try store.reopened()
        var descriptor = FetchDescriptor<Photo>(sortBy: [SortDescriptor(\.name)])
        descriptor.fetchLimit = 10
        let found = try context.fetch(descriptor)
        #expect(found.map(\.name) == (0..<10).map { "\(80_000 + $0)" })
        // The rows of all would be 3 MB; only a block of the arena and pages of the table remain.
        #expect(context.counters.cacheBytes < 1 << 20)
    }
}
