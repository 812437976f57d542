import Faultline
import FaultlineTestSupport

@Model final class UndoShelf {
    @Attribute(.unique) var name: String
    var width: Double?
    @Relationship(deleteRule: .cascade, inverse: \UndoBook.shelf) var books: [UndoBook] = []
    init(_ name: String) { self.name = name }
}

@Model final class UndoBook {
    @Attribute(.unique) var number: Int
    var title: String
    var scan: Data?
    var shelf: UndoShelf?
    @Relationship(inverse: \UndoReader.books) var readers: [UndoReader] = []
    init(_ number: Int, _ title: String) {
        self.number = number
        self.title = title
    }
}

@Model final class UndoReader {
    var name: String
    var books: [UndoBook] = []
    @Relationship(inverse: \UndoCard.reader) var card: UndoCard?
    init(_ name: String) { self.name = name }
}

@Model final class UndoCard {
    var code: Int
    var reader: UndoReader?
    init(_ code: Int) { self.code = code }
}

/// A store of shelves, books, readers and cards, with every kind of relationship.
struct UndoStore {
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try ModelContainer(
            for: UndoShelf.self, UndoBook.self, UndoReader.self, UndoCard.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
    }

    /// All objects and relationships that a new context sees, as text.
    func contents() throws -> [String] { try contents(of: ModelContext(container), withIdentifiers: true) }

    /// All objects and relationships that a context sees.
    func contents(of context: ModelContext, withIdentifiers: Bool) throws -> [String] {
        var lines: [String] = []
        func identifier(_ object: some PersistentModel) -> String {
            withIdentifiers ? "\(object.persistentModelID)" : ""
        }
        for shelf in try context.fetch(FetchDescriptor<UndoShelf>(sortBy: [SortDescriptor(\.name)])) {
            lines.append("\(shelf.name) \(shelf.width ?? -1): \(shelf.books.map(\.number)) \(identifier(shelf))")
        }
        for book in try context.fetch(FetchDescriptor<UndoBook>(sortBy: [SortDescriptor(\.number)])) {
            lines.append(
                "\(book.number) \(book.title) \(book.scan?.count ?? -1) \(book.scan?.first ?? 0) "
                    + "\(book.shelf?.name ?? "-") \(book.readers.map(\.name)) \(identifier(book))")
        }
        for reader in try context.fetch(FetchDescriptor<UndoReader>(sortBy: [SortDescriptor(\.name)])) {
            lines.append("\(reader.name) \(reader.books.map(\.number)) \(reader.card?.code ?? -1)")
        }
        for card in try context.fetch(FetchDescriptor<UndoCard>(sortBy: [SortDescriptor(\.code)])) {
            lines.append("\(card.code) \(card.reader?.name ?? "-")")
        }
        return lines
    }

    /// A shelf with three books, two readers with cards.
    func fill() throws -> (shelf: UndoShelf, books: [UndoBook], readers: [UndoReader]) {
        let shelf = UndoShelf("a")
        let books = (1...3).map { UndoBook($0, "book \($0)") }
        books[1].scan = Data(repeating: 7, count: 20_000)
        shelf.books = books.reversed()
        let readers = [UndoReader("Ada"), UndoReader("Bob")]
        readers[0].books = [books[0], books[1]]
        readers[1].books = [books[1]]
        readers[0].card = UndoCard(10)
        readers[1].card = UndoCard(11)
        context.insert(shelf)
        readers.forEach(context.insert)
        try context.save()
        return (shelf, books, readers)
    }

    /// Makes a random unsaved change.
    func change(_ random: inout Seed, _ next: inout Int) throws {
        next += 1
        let shelves = try context.fetch(FetchDescriptor<UndoShelf>(sortBy: [SortDescriptor(\.name)]))
        let books = try context.fetch(FetchDescriptor<UndoBook>(sortBy: [SortDescriptor(\.number)]))
        let readers = try context.fetch(FetchDescriptor<UndoReader>(sortBy: [SortDescriptor(\.name)]))
        func some<T>(_ all: [T]) -> [T] { all.filter { _ in random.oneIn(2) }.sorted { _, _ in random.oneIn(2) } }
        switch random.below(14) {
        case 0: context.insert(UndoShelf("shelf \(next)"))
        case 1: context.insert(UndoBook(next, "book \(next)"))
        case 2:
            let reader = UndoReader("reader \(next)")
            if random.oneIn(2) { reader.card = UndoCard(next) }
            reader.books = some(books)
            context.insert(reader)
        case 3 where !books.isEmpty: random.pick(books).title = random.oneIn(3) ? "" : "title \(next)"
        case 4 where !books.isEmpty:
            random.pick(books).scan =
                random.oneIn(4)
                ? nil : Data(repeating: UInt8(next % 251), count: random.pick([0, 10, 5_000, 70_000]))
        case 5 where !books.isEmpty: random.pick(books).shelf = random.oneIn(4) ? nil : shelves.first
        case 6 where !shelves.isEmpty: random.pick(shelves).books = some(books)
        case 7 where !readers.isEmpty: random.pick(readers).books = some(books)
        case 8 where !books.isEmpty: random.pick(books).readers = some(readers)
        case 9 where !readers.isEmpty: random.pick(readers).card = readers.first?.card
        case 10 where !books.isEmpty: context.delete(random.pick(books))
        case 11 where !readers.isEmpty: context.delete(random.pick(readers))
        case 12 where !shelves.isEmpty && random.oneIn(2): context.delete(random.pick(shelves))
        default:
            for shelf in shelves { shelf.width = random.pick([nil, 0, -0.0, 1.5, .infinity]) }
            if !books.isEmpty { random.pick(books).number = next }
        }
    }
}

@Model final class UndoAlbum {
    @Attribute(.unique) var name: String
    var note = ""
    // Without an inverse.
    @Relationship(deleteRule: .cascade) var cover: UndoPicture?
    @Relationship(deleteRule: .cascade) var pictures: [UndoPicture] = []
    init(_ name: String) { self.name = name }
}

@Model final class UndoPicture {
    var number: Int
    init(_ number: Int) { self.number = number }
}
