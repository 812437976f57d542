// swift-format-ignore-file: NeverForceUnwrap

import Faultline
import FaultlineTestSupport
import Testing

@Suite struct FetchTests {
    private static let texts: [String] = [
        "", "a", "b", "ab", "abc", "Abc", "é", "e\u{301}", "zz", "a\u{0}", "🧶", String(repeating: "long", count: 1_500),
        String(repeating: "long", count: 1_500) + "x", "0123456789012345",
    ]

    private static func fill(_ object: Optionals, _ random: inout Seed) {
        func maybe<V>(_ value: V) -> V? { random.oneIn(4) ? nil : value }
        object.bool = maybe(random.oneIn(2))
        object.int = maybe(random.below(10) - 5)
        object.int8 = maybe(Int8(random.below(4)))
        object.uint64 = maybe(random.oneIn(3) ? UInt64.max - UInt64(random.below(2)) : UInt64(random.below(4)))
        object.float = maybe(Float(random.below(5)) - 2)
        object.double = maybe(random.pick([-1.5, 0, -0.0, 2, .infinity, -.infinity, 1e300]))
        object.string = maybe(random.pick(texts))
        object.date = maybe(Date(timeIntervalSinceReferenceDate: Double(random.below(5))))
        object.uuid = maybe(UUID(uuid: (UInt8(random.below(3)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        object.url = maybe(URL(string: "https://example.org/\(random.below(3))")!)
        object.decimal = maybe(Decimal(random.below(5)) / 2 - 1)
        object.data = maybe(Data(repeating: UInt8(random.below(2)), count: random.pick([0, 3, 4_096])))
        object.rank = maybe(random.pick(Rank.allCases))
        object.color = maybe(random.pick(Color.allCases))
        object.named = random.pick(texts)
        object.preset = random.below(100)
    }

    /// Stored, changed, inserted and deleted objects, mixed.
    private static func mixed(_ random: inout Seed) throws -> (TestStore, ModelContext, [Optionals]) {
        let store = try TestStore(Optionals.self, place: .memory)
        let context = store.context()
        var objects: [Optionals] = []
        for _ in 0..<60 {
            let object = Optionals()
            fill(object, &random)
            context.insert(object)
            objects.append(object)
        }
        try context.save()
        for _ in 0..<12 { fill(objects[random.below(60)], &random) }
        for _ in 0..<8 {
            let place = random.below(objects.count)
            context.delete(objects[place])
            objects.remove(at: place)
        }
        for _ in 0..<10 {
            let object = Optionals()
            fill(object, &random)
            context.insert(object)
            objects.append(object)
        }
        return (store, context, objects)
    }

    private static func predicates(_ random: inout Seed) -> [(String, Predicate<Optionals>)] {
        valuePredicates(&random) + textPredicates(&random) + combinedPredicates(&random)
    }

    private static func valuePredicates(_ random: inout Seed) -> [(String, Predicate<Optionals>)] {
        let int = random.below(10) - 5
        let small = Int8(random.below(4))
        let big = random.oneIn(2) ? UInt64.max : UInt64(random.below(4))
        let float = Float(random.below(5)) - 2
        let double = random.pick([-1.5, 0, 2, .infinity])
        let date = Date(timeIntervalSinceReferenceDate: Double(random.below(5)))
        let uuid: UUID? = UUID(uuid: (UInt8(random.below(3)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        let url: URL? = URL(string: "https://example.org/\(random.below(3))")
        let decimal: Decimal = Decimal(random.below(5)) / 2 - 1
        let data: Data? = Data(repeating: UInt8(random.below(2)), count: random.pick([0, 3, 4_096]))
        let rank: Rank? = random.pick(Rank.allCases)
        let color: Color? = random.pick(Color.allCases)
        let ints = (0..<3).map { _ in random.below(100) }
        let preset = random.below(100)
        return [
            ("bool", #Predicate { $0.bool == true }),
            ("int ==", #Predicate { $0.int == int }),
            ("int !=", #Predicate { $0.int != int }),
            ("int nil", #Predicate { $0.int == nil }),
            ("int not nil", #Predicate { $0.int != nil }),
            ("int <", #Predicate { ($0.int ?? 0) < int }),
            ("preset <", #Predicate { ($0.preset ?? 0) < preset }),
            ("int flatMap", #Predicate { $0.int.flatMap { $0 > int } ?? false }),
            ("int8", #Predicate { $0.int8 == small }),
            ("uint64", #Predicate { $0.uint64 == big }),
            ("float", #Predicate { $0.float == float }),
            ("double", #Predicate { $0.double == double }),
            ("double !=", #Predicate { $0.double != double }),
            ("date", #Predicate { $0.date == date }),
            ("uuid", #Predicate { $0.uuid == uuid }),
            ("url", #Predicate { $0.url == url }),
            ("decimal", #Predicate { $0.decimal == decimal }),
            ("data", #Predicate { $0.data == data }),
            ("data !=", #Predicate { $0.data != data }),
            ("rank", #Predicate { $0.rank == rank }),
            ("color", #Predicate { $0.color == color }),
            ("color !=", #Predicate { $0.color != color }),
            ("range", #Predicate { ($0.preset ?? 0) >= 20 && ($0.preset ?? 0) < 60 }),
            ("in range", #Predicate { (20..<60).contains($0.preset ?? 0) }),
            ("ints", #Predicate { ints.contains($0.preset ?? -1) }),
            ("true", #Predicate { _ in true }),
            ("false", #Predicate { _ in false }),
        ]
    }

    private static func textPredicates(_ random: inout Seed) -> [(String, Predicate<Optionals>)] {
        let text = random.pick(texts)
        let other = random.pick(texts)
        let named = (0..<3).map { _ in random.pick(texts) }
        return [
            ("string ==", #Predicate { $0.string == text }),
            ("string !=", #Predicate { $0.string != text }),
            ("named ==", #Predicate { $0.named == text }),
            ("named <", #Predicate { $0.named < text }),
            ("named >=", #Predicate { $0.named >= text }),
            ("named contains", #Predicate { $0.named.contains(other) }),
            ("named starts", #Predicate { $0.named.starts(with: other) }),
            ("named count", #Predicate { $0.named.count > 2 }),
            ("named in", #Predicate { named.contains($0.named) }),
            ("named empty", #Predicate { $0.named.isEmpty }),
        ]
    }

    private static func combinedPredicates(_ random: inout Seed) -> [(String, Predicate<Optionals>)] {
        let int = random.below(10) - 5
        let text = random.pick(texts)
        let other = random.pick(texts)
        let data: Data? = Data(repeating: UInt8(random.below(2)), count: random.pick([0, 3, 4_096]))
        return [
            ("and", #Predicate { $0.int == int && $0.named < text }),
            ("or", #Predicate { $0.int == int || $0.named.contains(other) }),
            ("not", #Predicate { !($0.int == int || $0.string == text) }),
            ("mixed", #Predicate { $0.named >= text && $0.named.count < 5 && $0.bool != nil }),
            ("or mixed", #Predicate { $0.named.count < 2 || $0.data == data }),
            ("not mixed", #Predicate { !($0.named.count < 2 && $0.int != nil) }),
        ]
    }

    @Test(arguments: Seed.list(12, unoptimized: 5)) func predicatesAgreeWithPlainFilters(seed: Seed) throws {
        var random = seed
        let (store, context, objects) = try Self.mixed(&random)
        func expect(_ objects: [Optionals], _ context: ModelContext, _ state: String) throws {
            for (name, predicate) in Self.predicates(&random) {
                let wanted = try objects.filter { try predicate.evaluate($0) }
                let found = try context.fetch(FetchDescriptor(predicate: predicate))
                #expect(Set(found) == Set(wanted), "\(name), \(state) \(seed.replayLine)")
                #expect(found.count == wanted.count, "\(name), \(state) \(seed.replayLine)")
                let count = try context.fetchCount(FetchDescriptor(predicate: predicate))
                #expect(count == wanted.count, "count \(name), \(state) \(seed.replayLine)")
                let identifiers = try context.fetchIdentifiers(FetchDescriptor(predicate: predicate))
                #expect(
                    Set(identifiers) == Set(wanted.map(\.persistentModelID)), "\(name), \(state) \(seed.replayLine)")
                var walked: Set<Optionals> = []
                try context.enumerate(FetchDescriptor(predicate: predicate), batchSize: 7, allowEscapingMutations: true)
                {
                    walked.insert($0)
                }
                #expect(walked == Set(wanted), "walk \(name), \(state) \(seed.replayLine)")
            }
        }
        try expect(objects, context, "unsaved")
        try context.save()
        try expect(objects, context, "saved")
        let second = store.context()
        try expect(try second.all(Optionals.self), second, "fresh")
    }

    @Test(arguments: Seed.list(8)) func sortsAgreeWithPlainSorts(seed: Seed) throws {
        var random = seed
        let (store, context, objects) = try Self.mixed(&random)
        func check<V: Comparable & Sendable>(
            _ keyPath: any KeyPath<Optionals, V?> & Sendable, _ context: ModelContext, _ all: [Optionals]
        ) throws {
            for order in [SortOrder.forward, .reverse] {
                let sorted = try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(keyPath, order: order)]))
                #expect(sorted.count == all.count)
                for (left, right) in zip(sorted, sorted.dropFirst()) {
                    let pair =
                        order == .forward
                        ? (left[keyPath: keyPath], right[keyPath: keyPath])
                        : (right[keyPath: keyPath], left[keyPath: keyPath])
                    let isOrdered: Bool
                    switch pair {
                    case (nil, _): isOrdered = true
                    case (_, nil): isOrdered = false
                    case (let first?, let second?): isOrdered = !(second < first)
                    }
                    #expect(isOrdered, "\(keyPath) \(order) \(seed.replayLine)")
                }
            }
        }
        func checkAll(_ context: ModelContext, _ all: [Optionals]) throws {
            try check(\.int, context, all)
            try check(\.int8, context, all)
            try check(\.uint64, context, all)
            try check(\.float, context, all)
            try check(\.double, context, all)
            try check(\.date, context, all)
            try check(\.decimal, context, all)
            try check(\.string, context, all)
            for order in [SortOrder.forward, .reverse] {
                let sorted = try context.fetch(
                    FetchDescriptor(sortBy: [SortDescriptor(\Optionals.named, order: order), SortDescriptor(\.preset)]))
                for (left, right) in zip(sorted, sorted.dropFirst()) {
                    if left.named == right.named {
                        #expect((left.preset ?? 0) <= (right.preset ?? 0), "\(seed.replayLine)")
                    } else {
                        #expect((left.named < right.named) == (order == .forward), "\(seed.replayLine)")
                    }
                }
                try checkWindows(of: sorted, order, context, seed)
            }
        }
        try checkAll(context, objects)
        try context.save()
        try checkAll(context, objects)
        let second = store.context()
        try checkAll(second, try second.all(Optionals.self))
    }

    /// Windows are parts of the whole.
    private func checkWindows(
        of sorted: [Optionals], _ order: SortOrder, _ context: ModelContext, _ seed: Seed
    ) throws {
        for (offset, limit) in [(0, 5), (3, 10), (50, 100), (1_000, 1), (0, 0)] {
            var descriptor = FetchDescriptor<Optionals>(
                sortBy: [SortDescriptor(\.named, order: order), SortDescriptor(\.preset)])
            descriptor.fetchOffset = offset
            descriptor.fetchLimit = limit
            let wanted = Array(sorted.dropFirst(offset).prefix(limit == 0 ? .max : limit))
            #expect(try context.fetch(descriptor) == wanted, "\(offset) \(limit) \(seed.replayLine)")
            #expect(try context.fetchCount(descriptor) == wanted.count)
            #expect(try context.fetchIdentifiers(descriptor) == wanted.map(\.persistentModelID))
        }
    }

    @Test func windowsOfEverything() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        for number in 0..<10 { context.insert(Document("", number: number)) }
        try context.save()
        for number in 10..<13 { context.insert(Document("", number: number)) }
        context.delete(try context.all(Document.self)[4])
        func numbers(_ offset: Int?, _ limit: Int?, pending: Bool = true) throws -> [Int] {
            var descriptor = FetchDescriptor<Document>()
            descriptor.fetchOffset = offset
            descriptor.fetchLimit = limit
            descriptor.includePendingChanges = pending
            let found = try context.fetch(descriptor).map(\.number)
            #expect(try context.fetchCount(descriptor) == found.count)
            var walked: [Int] = []
            try context.enumerate(descriptor, allowEscapingMutations: true) { walked.append($0.number) }
            #expect(walked == found)
            return found
        }
        #expect(try numbers(nil, nil) == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12])
        #expect(try numbers(3, 2) == [3, 5])
        #expect(try numbers(8, 3) == [9, 10, 11])
        #expect(try numbers(20, 3) == [])
        #expect(try numbers(nil, nil, pending: false) == Array(0..<10))
    }

    @Test func predicatesOverRelationships() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folders = (0..<3).map { Folder("f\($0)") }
        folders.forEach(context.insert)
        for number in 0..<12 {
            let document = Document("d", number: number)
            document.folder = number % 4 == 3 ? nil : folders[number % 4]
            context.insert(document)
        }
        func check(_ context: ModelContext) throws {
            func numbers(_ predicate: Predicate<Document>) throws -> [Int] {
                let found = try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.number)]))
                #expect(try context.fetchCount(FetchDescriptor(predicate: predicate)) == found.count)
                return found.map(\.number)
            }
            #expect(try numbers(#Predicate { $0.folder?.name == "f1" }) == [1, 5, 9])
            #expect(try numbers(#Predicate { $0.folder == nil }) == [3, 7, 11])
            #expect(try numbers(#Predicate { $0.folder != nil && $0.number > 8 }) == [9, 10])
            #expect(try numbers(#Predicate { ($0.folder?.name ?? "f2") == "f2" }) == [2, 3, 6, 7, 10, 11])
            let folder = try #require(try context.all(Folder.self).first { $0.name == "f1" })
            let identifier = folder.persistentModelID
            #expect(try numbers(#Predicate { $0.folder?.persistentModelID == identifier }) == [1, 5, 9])
            #expect(try numbers(#Predicate { $0.folder?.persistentModelID == identifier && $0.number > 4 }) == [5, 9])
            #expect(try numbers(#Predicate { $0.folder?.persistentModelID != identifier }).count == 9)
            let many = #Predicate<Folder> { $0.documents.contains { $0.number == 5 } }
            #expect(try context.fetch(FetchDescriptor(predicate: many)).map(\.name) == ["f1"])
            let sorted = try context.fetch(
                FetchDescriptor<Document>(sortBy: [
                    SortDescriptor(\.folder?.name, order: .reverse), SortDescriptor(\.number),
                ]))
            #expect(sorted.map(\.number) == [2, 6, 10, 1, 5, 9, 0, 4, 8, 3, 7, 11])
        }
        try check(context)
        try context.save()
        try check(context)
        try check(try store.reopened())
        let own = try context.all(Document.self).prefix(3).map(\.persistentModelID)
        let found = try context.fetch(
            FetchDescriptor<Document>(predicate: #Predicate { own.contains($0.persistentModelID) }))
        #expect(found.map(\.number) == [0, 1, 2])
    }

    @Test func uniqueAttributesAreLookedUp() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        for number in 0..<500 { context.insert(User("\(number)", age: number)) }
        try context.save()
        let second = try store.reopened()
        let found = try second.fetch(FetchDescriptor<User>(predicate: #Predicate { $0.email == "321" && $0.age > 0 }))
        #expect(found.map(\.age) == [321])
        #expect(second.counters.rowsRead == 1)
        found[0].email = "changed"
        #expect(try second.fetchCount(FetchDescriptor<User>(predicate: #Predicate { $0.email == "321" })) == 0)
        #expect(try second.fetchCount(FetchDescriptor<User>(predicate: #Predicate { $0.email == "changed" })) == 1)
    }

    @Test func aWalkRefusesUnsavedChangesAndMaySave() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        for number in 0..<1_000 { context.insert(Document("d", number: number)) }
        try context.save()
        #expect(throws: SwiftDataError.includePendingChangesWithBatchSize) {
            try context.enumerate(FetchDescriptor<Document>(), batchSize: 100) { $0.title = "x" }
        }
        context.rollback()
        try context.enumerate(FetchDescriptor<Document>(), batchSize: 100, allowEscapingMutations: true) {
            $0.title = "y"
        }
        #expect(context.changedModelsArray.count == 1_000)
        context.rollback()
        var count = 0
        try context.enumerate(FetchDescriptor<Document>(), batchSize: 100) { document in
            document.title = "z"
            count += 1
            if count % 10 == 0 { try context.save() }
        }
        #expect(count == 1_000)
        #expect(
            try store.reopened().fetchCount(FetchDescriptor<Document>(predicate: #Predicate { $0.title == "z" }))
                == 1_000)
    }

    @Test func aWalkHoldsNoObjects() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        for number in 0..<3_000 { context.insert(Document("d", number: number)) }
        try context.save()
        weak var first: Document?
        var count = 0
        try store.context().enumerate(FetchDescriptor<Document>(), batchSize: 100) { document in
            if count == 0 { first = document }
            count += 1
            if count == 1_500 { #expect(first == nil) }
        }
        #expect(count == 3_000)
    }

    @Test func transientPropertiesAreEvaluatedInMemory() throws {
        let store = try TestStore(Cached.self)
        let context = store.context()
        context.insert(Cached(1))
        try context.save()
        let found = try context.fetch(FetchDescriptor<Cached>(predicate: #Predicate { $0.behind == "text" }))
        #expect(found.count == 1)
    }
}
