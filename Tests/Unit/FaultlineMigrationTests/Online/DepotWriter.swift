import Faultline
import FaultlineMigration
import Foundation
import Testing

/// Saves random changes of items under the first version, and knows the saved state.
// Safe because one thread after the other uses it.
final class DepotWriter: @unchecked Sendable {
    struct Item: Equatable {
        var name: String
        var shelf: String?
        var photo: Data?
    }

    private(set) var items: [Int: Item] = [:]
    private(set) var saveCount = 0
    private(set) var container: ModelContainer
    private var context: ModelContext
    /// The keys of `models` in order; nil if they have changed.
    private var numbers: [Int]?
    private var models: [Int: Depot1.Item] = [:]
    private var shelves: [Depot1.Shelf] = []
    private var state: UInt64
    private var next: Int
    /// Numbers of this writer differ by as much.
    private let stride: Int

    static let shelfCount = 5

    /// One of `stride` writers under the first version, which save different items.
    init(_ container: ModelContainer, seed: UInt64, place: Int = 0, of stride: Int = 1) throws {
        self.container = container
        self.stride = stride
        state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        next = 1_000_000 + place
        context = ModelContext(container)
        context.autosaveEnabled = false
        shelves = try context.all(Depot1.Shelf.self).sorted { $0.name < $1.name }
        for model in try context.all(Depot1.Item.self) where model.number % stride == place {
            models[model.number] = model
            items[model.number] = Item(name: model.name, shelf: model.shelf?.name, photo: model.photo)
        }
        // An earlier writer has used numbers from the same one on.
        while let newest = models.keys.max(), next < newest { next += stride }
    }

    /// Makes a store of the first version.
    static func make(_ container: ModelContainer, count: Int) throws {
        let context = ModelContext(container)
        let shelves = (0..<shelfCount).map { Depot1.Shelf("shelf \($0)") }
        for shelf in shelves { context.insert(shelf) }
        for number in 0..<count {
            let item = Depot1.Item(number, "item \(number % 97)")
            item.shelf = number % 4 == 0 ? nil : shelves[number % shelfCount]
            if number % 50 == 0 { item.photo = Data(repeating: UInt8(truncatingIfNeeded: number), count: 5_000) }
            context.insert(item)
        }
        try context.save()
    }

    private func random(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(max(limit, 1)))
    }

    private func anyNumber() -> Int? {
        // In an order that does not depend on hashing.
        let numbers = numbers ?? models.keys.sorted()
        self.numbers = numbers
        return numbers.isEmpty ? nil : numbers[random(numbers.count)]
    }

    /// Saves some random changes, unless it has made enough: progress is reported at least twice a second.
    func save(_ count: Int, upTo limit: Int = 400) throws {
        for _ in 0..<count where saveCount < limit { try save() }
    }

    /// Saves one random change; the known items change only if that succeeds.
    func save() throws {
        var after = items
        var changed = models
        if !change(&after, &changed) { insert(&after, &changed) }
        try context.save()
        items = after
        models = changed
        numbers = nil
        saveCount += 1
    }

    /// Makes a change of stored items; false if there is none to make.
    private func change(_ after: inout [Int: Item], _ changed: inout [Int: Depot1.Item]) -> Bool {
        let kind = random(7)
        guard kind > 1, let number = anyNumber(), let model = models[number] else { return false }
        switch kind {
        case 2:
            model.name = "renamed \(random(50))"
            after[number]?.name = model.name
        case 3:
            let shelf = random(4) == 0 ? nil : shelves[random(shelves.count)]
            model.shelf = shelf
            after[number]?.shelf = shelf?.name
        case 4:
            next += stride
            model.number = next
            changed[number] = nil
            changed[next] = model
            after[next] = after.removeValue(forKey: number)
        case 5:
            guard let other = anyNumber(), number != other, let second = models[other] else { return false }
            model.number = other
            second.number = number
            (changed[number], changed[other]) = (second, model)
            (after[number], after[other]) = (after[other], after[number])
        default:
            context.delete(model)
            changed[number] = nil
            after[number] = nil
        }
        return true
    }

    private func insert(_ after: inout [Int: Item], _ changed: inout [Int: Depot1.Item]) {
        next += stride
        let new = Depot1.Item(next, "late \(random(20))")
        new.shelf = shelves[random(shelves.count)]
        if random(3) == 0 { new.photo = Data(repeating: UInt8(truncatingIfNeeded: next), count: 5_000) }
        context.insert(new)
        changed[next] = new
        after[next] = Item(name: new.name, shelf: new.shelf?.name, photo: new.photo)
    }

    /// Compares the items that some writers have saved with a store of the second version, also by its new indexes.
    static func check(_ context: ModelContext, _ writers: [DepotWriter]) throws {
        let expected = writers.reduce(into: [Int: Item]()) { $0.merge($1.items) { first, _ in first } }
        try check(context, expected)
    }

    static func check(_ context: ModelContext, _ expected: [Int: Item]) throws {
        let found = try context.all(Depot2.Item.self)
        let values = found.map { ($0.number, Item(name: $0.name, shelf: $0.shelf?.name, photo: $0.photo)) }
        #expect(values.count == expected.count)
        #expect(Dictionary(values) { first, _ in first } == expected)
        #expect(found.allSatisfy { $0.note == "new" })
        for number in expected.keys.sorted().suffix(300) {
            let wanted = FetchDescriptor<Depot2.Item>(predicate: #Predicate { $0.number == number })
            #expect(try context.fetch(wanted).map(\.number) == [number])
        }
        let byName = Dictionary(grouping: expected) { $0.value.name }
        for (name, items) in byName {
            let wanted = FetchDescriptor<Depot2.Item>(predicate: #Predicate { $0.name == name })
            #expect(try context.fetch(wanted).map(\.number).sorted() == items.map(\.key).sorted())
        }
        for shelf in try context.all(Depot2.Shelf.self) {
            let numbers = expected.filter { $0.value.shelf == shelf.name }.map(\.key).sorted()
            #expect(shelf.items.map(\.number).sorted() == numbers)
        }
    }

    /// Compares the items with a store of the first version.
    func checkOld(_ context: ModelContext) throws {
        let values = try context.all(Depot1.Item.self).map {
            ($0.number, Item(name: $0.name, shelf: $0.shelf?.name, photo: $0.photo))
        }
        #expect(values.count == items.count)
        #expect(Dictionary(values) { first, _ in first } == items)
    }
}
