import Faultline
import FaultlineObjects
import FaultlineTestSupport
import Foundation

/// Random work of a stage's closure, and everything that it observes.
///
/// The same seed does the same in every context.
struct SpilledInsertLife {
    typealias Line = SpilledInsertVersions.V2.Line
    typealias Page = SpilledInsertVersions.V2.Page
    typealias Item = SpilledInsertVersions.V2.Item
    typealias Tag = SpilledInsertVersions.V2.Tag
    typealias Note = SpilledInsertVersions.V2.Note

    private let context: ModelContext
    private var random: Seed
    /// Whether it asks for new objects, which makes all of them again.
    private let asks: Bool
    private var items: [Item]
    private let pages: [Page]
    private var held: [Line] = []
    private var identifiers: [PersistentIdentifier] = []
    /// A note without its item, which it gets again before the save.
    private var broken: Note?
    private var lineCount = 0
    private var noteCount = 0
    private var itemCount = SpilledInsertVersions.itemCount
    private(set) var log: [String] = []
    /// The most objects that the context had let go before a save.
    private(set) var savedSpilledCount = 0

    init(_ seed: Seed, _ context: ModelContext) throws {
        self.context = context
        random = seed
        asks = seed.origin % 2 == 0
        items = try Self.items(context)
        pages = try context.fetch(FetchDescriptor<Page>(sortBy: [SortDescriptor(\.code)]))
    }

    private static func items(_ context: ModelContext) throws -> [Item] {
        try context.fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.number)]))
    }

    private mutating func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    mutating func run(_ stepCount: Int) throws {
        for _ in 0..<stepCount {
            switch draw(100) {
            case 0..<50: makeLine()
            case 50..<60: makeNote()
            case 60..<70: makePage()
            case 70..<85: try use()
            case 85..<88: try fetch()
            case 88..<89 where draw(4) == 0: try end()
            case 89..<90 where draw(6) == 0: try rollBack()
            case 90..<91 where draw(16) == 0: breakRule()
            case 91..<92 where asks && draw(4) == 0: try replaceItem()
            default: letGo()
            }
        }
        try end()
    }

    private mutating func makeLine() {
        lineCount += 1
        let size = draw(20) == 0 ? 1_500 : draw(60)
        let line = Line(number: lineCount, text: String(repeating: "é", count: size))
        if draw(3) == 0 { line.comment = "comment \(lineCount)" }
        context.insert(line)
        if draw(4) == 0, let other = held.last { line.next = other }
        if draw(8) == 0 { line.item = items[draw(items.count)] }
        if draw(10) == 0 { line.page = draw(2) == 0 && asks ? pages[draw(pages.count)] : newPage() }
        if draw(30) == 0 {
            let tag = Tag(name: "tag \(lineCount)")
            line.tags.append(tag)
        }
        if asks, draw(60) == 0 { items[draw(items.count)].lines.append(line) }
        if draw(12) == 0 { held.append(line) }
        if asks, draw(20) == 0 { identifiers.append(line.persistentModelID) }
    }

    private mutating func makeNote() {
        noteCount += 1
        // A failure makes all objects again.
        let text = asks && draw(40) == 0 ? "" : "note \(noteCount)"
        do {
            let note = try Note(number: noteCount, item: items[draw(items.count)], text: text)
            if draw(3) == 0 { context.insert(note) }
        } catch {
            log.append("no note \(noteCount)")
        }
    }

    /// Makes a note that loses its item.
    private mutating func breakRule() {
        guard broken == nil else { return }
        itemCount += 1
        let item = Item(number: itemCount)
        context.insert(item)
        noteCount += 1
        broken = try? Note(number: noteCount, item: item, text: "broken")
        item.notes = []
    }

    /// Deletes an item with its notes.
    private mutating func replaceItem() throws {
        let place = draw(items.count)
        context.delete(items[place])
        itemCount += 1
        items[place] = Item(number: itemCount)
        context.insert(items[place])
        if draw(2) == 0 { try end() }
    }

    private mutating func newPage() -> Page {
        let number = draw(200)
        return Page(code: "page \(number)", title: "title \(lineCount) \(number)")
    }

    private mutating func makePage() {
        if draw(3) == 0 { context.insert(newPage(), onConflict: .update) } else { context.insert(newPage()) }
    }

    /// Uses an object that the closure holds.
    private mutating func use() throws {
        guard !held.isEmpty else { return }
        let line = held[draw(held.count)]
        switch draw(7) {
        case 0: line.text = "changed \(draw(1_000))"
        case 1: line.next = held[draw(held.count)]
        case 2: log.append("\(line.number) \(line.text.count) \(line.comment ?? "-") \(line.isDeleted)")
        case 3: if asks { log.append("next \(line.next?.number ?? 0) page \(line.page?.code ?? "-")") }
        case 4: line.item = draw(3) == 0 ? nil : items[draw(items.count)]
        case 5: line.page = newPage()
        default:
            guard draw(8) == 0 else { return }
            context.delete(line)
            held.removeAll { $0 === line }
        }
    }

    private mutating func fetch() throws {
        log.append("\(context.hasChanges) \(try context.fetchCount(FetchDescriptor<Item>()))")
        // The number of new objects is known without them.
        log.append("lines \(try context.fetchCount(FetchDescriptor<Line>()))")
        guard asks, draw(5) == 0 else { return }
        let number = draw(lineCount + 1)
        let found = try context.fetch(FetchDescriptor<Line>(predicate: #Predicate { $0.number == number }))
        log.append("found \(found.map(\.text.count)) \(found.first?.next?.number ?? 0)")
        if draw(3) == 0, let line = found.first { held.append(line) }
        let code = "page \(draw(200))"
        let titles = try context.fetch(FetchDescriptor<Page>(predicate: #Predicate { $0.code == code })).map(\.title)
        log.append("titles \(titles.sorted())")
        if draw(3) == 0 {
            let inserted = context.insertedModelsArray.map { ($0 as? Line)?.number ?? ($0 as? Page)?.code.count ?? 0 }
            log.append("inserted \(inserted)")
        }
        if let identifier = identifiers.last {
            log.append("model \((context.model(for: identifier) as? Line)?.number ?? 0)")
        }
        log.append("members \(items[draw(items.count)].lines.map(\.number))")
    }

    private mutating func end() throws {
        savedSpilledCount = max(savedSpilledCount, StageContext(context.core).spilledCount)
        broken?.item = items[draw(items.count)]
        broken = nil
        try context.save()
        items = try Self.items(context)
        identifiers = []
        log.append("saved \(context.hasChanges) \(held.map(\.number)) \(pages.map(\.title))")
        held = []
    }

    private mutating func rollBack() throws {
        context.rollback()
        items = try Self.items(context)
        broken = nil
        identifiers = []
        held = []
        log.append("rolled back \(context.hasChanges) \(pages.map(\.title))")
    }

    private mutating func letGo() {
        for place in held.indices.reversed() where draw(3) == 0 { held.remove(at: place) }
    }

    /// Everything that is stored, in the order of the numbers.
    static func contents(_ context: ModelContext) throws -> [String] {
        var contents: [String] = []
        for line in try context.fetch(FetchDescriptor<Line>()) {
            let tags = line.tags.map(\.name).joined(separator: ",")
            contents.append("\(line.number) \(line.text) \(line.comment ?? "-") \(line.next?.number ?? 0)")
            contents.append("\(line.page?.code ?? "-") \(line.item?.number ?? -1) \(tags)")
        }
        for page in try context.fetch(FetchDescriptor<Page>()) {
            contents.append("\(page.code) \(page.title) \(page.line?.number ?? 0)")
        }
        for item in try context.fetch(FetchDescriptor<Item>()) {
            contents.append("\(item.number) \(item.lines.map(\.number)) \(item.notes.map(\.number))")
        }
        for note in try context.fetch(FetchDescriptor<Note>()) {
            contents.append("\(note.number) \(note.text) \(note.item.number)")
        }
        for tag in try context.fetch(FetchDescriptor<Tag>()) {
            contents.append("\(tag.name) \(tag.lines.map(\.number))")
        }
        return contents
    }
}
