import Faultline
import Testing

@Model final class Entry {
    #Index<Entry>([\.rank, \.name], [\.group, \.rank])

    var rank: Int
    var name: String
    var group: String?
    var weight: Double?

    init(_ rank: Int, _ name: String, group: String? = nil, weight: Double? = nil) {
        self.rank = rank
        self.name = name
        self.group = group
        self.weight = weight
    }
}

/// Pages of a fetch, each starting after the last object of the previous one.
@Suite struct PagingTests {
    private let store: TestStore

    init() throws { store = try TestStore(Entry.self) }

    private func fill(_ count: Int) throws {
        let context = store.context()
        for number in 0..<count {
            context.insert(
                Entry(
                    number * 7_919 % 40, "n\(number % 5)", group: number % 3 == 0 ? nil : "g\(number % 3)",
                    weight: number % 4 == 0 ? nil : number % 16 == 1 ? .nan : Double(number % 8) - 4))
        }
        try context.save()
    }

    private func walk(
        _ context: ModelContext, _ descriptor: FetchDescriptor<Entry>, size: Int
    ) throws -> [PersistentIdentifier] {
        var identifiers: [PersistentIdentifier] = []
        var cursor: FetchCursor?
        while true {
            let page = try context.fetchPage(descriptor, after: cursor, size: size)
            identifiers += page.objects.map(\.persistentModelID)
            #expect(page.objects.count <= size && page.isLast == (page.objects.count < size))
            guard !page.isLast else { return identifiers }
            // Encodes and decodes the cursor, as a service's client does.
            cursor = try JSONDecoder().decode(FetchCursor.self, from: JSONEncoder().encode(page.cursor))
        }
    }

    @Test(arguments: [1, 7, 100, 1_000])
    func pagesHaveEveryObjectOnceInTheOrderOfTheFetch(_ size: Int) throws {
        try fill(300)
        let context = try store.reopened()
        let orders: [[SortDescriptor<Entry>]] = [
            [], [SortDescriptor(\.rank)], [SortDescriptor(\.rank, order: .reverse)],
            [SortDescriptor(\.rank), SortDescriptor(\.name, comparator: .lexical)],
            [SortDescriptor(\.rank, order: .reverse), SortDescriptor(\.name, comparator: .lexical, order: .reverse)],
            [SortDescriptor(\.name, comparator: .lexical, order: .reverse), SortDescriptor(\.weight)],
            [SortDescriptor(\.weight, order: .reverse)],
            [SortDescriptor(\.group, comparator: .lexical, order: .reverse), SortDescriptor(\.rank)],
        ]
        let predicates: [Predicate<Entry>?] = [
            nil, #Predicate { $0.group == "g1" }, #Predicate { $0.rank >= 30 },
            #Predicate { $0.name.count > 1 && $0.rank < 9 },
            #Predicate { $0.rank == 100 },
        ]
        for order in orders {
            for predicate in predicates {
                let descriptor = FetchDescriptor(predicate: predicate, sortBy: order)
                let expected = try context.fetch(descriptor).map(\.persistentModelID)
                #expect(try walk(context, descriptor, size: size) == expected, "\(order)")
            }
        }
    }

    @Test func aPageReadsNoMoreThanItself() throws {
        try fill(20_000)
        let context = try store.reopened()
        func cost(_ descriptor: FetchDescriptor<Entry>, _ cursor: FetchCursor?) throws -> (rows: Int, FetchCursor?) {
            let before = context.counters
            let page = try context.fetchPage(descriptor, after: cursor, size: 50)
            #expect(page.objects.count == 50)
            let rows = (context.counters - before).rowsRead
            let faults = context.counters.faultsFired
            _ = page.objects.map(\.name)
            if descriptor.predicate != nil || !descriptor.sortBy.isEmpty {
                #expect(context.counters.faultsFired == faults)
            }
            return (rows, page.cursor)
        }
        // In the middle of the order, between objects with equal keys.
        let byIndex = FetchDescriptor<Entry>(
            sortBy: [SortDescriptor(\.rank), SortDescriptor(\.name, comparator: .lexical)])
        var cursor: FetchCursor?
        for _ in 0..<20 {
            let (rows, next) = try cost(byIndex, cursor)
            #expect(rows == 50)
            cursor = next
        }
        let backwards = FetchDescriptor<Entry>(
            predicate: #Predicate { $0.group == "g1" }, sortBy: [SortDescriptor(\.rank, order: .reverse)])
        cursor = nil
        for _ in 0..<20 {
            let (rows, next) = try cost(backwards, cursor)
            #expect(rows == 50)
            cursor = next
        }
        let byCreation = try cost(FetchDescriptor<Entry>(), try cost(FetchDescriptor<Entry>(), nil).1)
        #expect(byCreation.rows == 0)
        let filtered = FetchDescriptor<Entry>(predicate: #Predicate { $0.weight != nil })
        let second = try cost(filtered, try cost(filtered, nil).1)
        #expect(second.rows < 80)
    }

    @Test func pagesStandAgainstInsertsAndDeletions() throws {
        try fill(100)
        let context = store.context()
        let descriptor = FetchDescriptor<Entry>(sortBy: [SortDescriptor(\.rank)])
        let all = try context.fetch(descriptor)
        let first = try context.fetchPage(descriptor, size: 30)
        #expect(first.objects == Array(all[..<30]))
        let boundary = all[29].rank
        // The cursor's object is deleted, and so are some before and after it; others are inserted on both sides.
        let other = store.context()
        for gone in [all[2], all[29], all[31]] {
            other.delete(try #require(try other.fetch(FetchDescriptor<Entry>()).first { $0 == gone }))
        }
        other.insert(Entry(-1, "front"))
        other.insert(Entry(boundary, "equal"))
        other.insert(Entry(boundary + 1, "behind"))
        try other.save()
        var seen = first.objects.map(\.persistentModelID)
        let rest = try walkOn(context, descriptor, first.cursor)
        seen += rest.map(\.persistentModelID)
        #expect(Set(seen).count == seen.count)
        #expect(rest.contains { $0.name == "equal" } && rest.contains { $0.name == "behind" })
        #expect(!rest.contains { $0.name == "front" } && !seen.contains(all[31].persistentModelID))
        #expect(seen.count == 30 + 70 - 1 + 2)
        // Objects after the end are found from the last cursor on.
        let last = try context.fetchPage(descriptor, after: first.cursor, size: 1_000)
        #expect(try context.fetchPage(descriptor, after: last.cursor, size: 5).objects.isEmpty)
        other.insert(Entry(1_000, "late"))
        try other.save()
        let late = try context.fetchPage(descriptor, after: last.cursor, size: 5)
        #expect(late.objects.map(\.name) == ["late"] && late.isLast)
        #expect(try context.fetchPage(descriptor, after: late.cursor, size: 5).cursor == late.cursor)
    }

    private func walkOn(
        _ context: ModelContext, _ descriptor: FetchDescriptor<Entry>, _ cursor: FetchCursor?
    ) throws -> [Entry] {
        var entries: [Entry] = []
        var cursor = cursor
        while true {
            let page = try context.fetchPage(descriptor, after: cursor, size: 7)
            entries += page.objects
            guard !page.isLast else { return entries }
            cursor = page.cursor
        }
    }

    @Test func aCursorOfAnotherFetchIsRefused() throws {
        try fill(10)
        let context = store.context()
        let byRank = FetchDescriptor<Entry>(sortBy: [SortDescriptor(\.rank)])
        let cursor = try context.fetchPage(byRank, size: 2).cursor
        for order in [[], [SortDescriptor(\Entry.rank, order: .reverse)], [SortDescriptor(\Entry.name)]] {
            #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
                try context.fetchPage(FetchDescriptor(sortBy: order), after: cursor, size: 2)
            }
        }
        let other = try TestStore(Entry.self)
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
            try other.context().fetchPage(byRank, after: cursor, size: 2)
        }
    }

    @Test func unsavedChangesAreLeftOutOrRefused() throws {
        try fill(10)
        let context = store.context()
        let entries = try context.all(Entry.self)
        entries[0].rank = 1_000
        var descriptor = FetchDescriptor<Entry>(predicate: #Predicate { $0.name.count > 1 })
        #expect(throws: SwiftDataError.includePendingChangesWithBatchSize) {
            try context.fetchPage(descriptor, size: 5)
        }
        entries[0].name = ""
        descriptor.includePendingChanges = false
        let page = try context.fetchPage(descriptor, size: 5)
        #expect(page.objects == Array(entries[..<5]) && page.objects[0].name == "")
    }

    @Test func requestsByNameHavePagesToo() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        try context.batchInsert(
            entityName: "Person", (0..<50).map { ["name": "p\($0)", "age": $0 % 7 == 0 ? nil : $0 % 7] })
        let request = FetchRequest(entityName: "Person", sortedBy: [.descending("age"), .ascending("name")])
        let expected = try context.fetch(request)
        var found: [ManagedObject] = []
        var cursor: FetchCursor?
        repeat {
            let page = try context.fetchPage(request, after: cursor, size: 8)
            found += page.objects
            cursor = page.isLast ? nil : page.cursor
        } while cursor != nil
        #expect(found == expected && found.count == 50)
    }
}
