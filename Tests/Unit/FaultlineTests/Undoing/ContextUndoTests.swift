import Faultline
import FaultlineTestSupport
import Testing

/// The undo manager of a context.
struct ContextUndoTests {
    private let store: UndoStore
    private let manager = UndoManager()
    private var context: ModelContext { store.context }

    init() throws {
        store = try UndoStore()
        store.context.undoManager = manager
    }

    private func require(_ state: [String], _ name: String) throws {
        let now = try visible()
        try #require(
            now == state, "\(name): \(now.filter { !state.contains($0) }), not \(state.filter { !now.contains($0) })")
    }

    private func visible() throws -> [String] { try store.contents(of: context, withIdentifiers: false) }

    /// Changes in groups, some of them saved, are taken back and made again one by one.
    @Test(arguments: 1...UInt64(TestSize.of(120, unoptimized: 40)))
    func `any changes are undone and redone, saved or not`(seed: UInt64) throws {
        var random = Seed(seed)
        _ = try store.fill()
        manager.removeAllActions()
        let first = try visible()
        var states = [first]
        var next = 100
        for _ in 0..<12 {
            manager.beginUndoGrouping()
            for _ in 0...random.below(3) { try store.change(&random, &next) }
            manager.endUndoGrouping()
            let now = try visible()
            if manager.undoCount == states.count { states.append(now) } else { #expect(now == states.last) }
            if random.oneIn(3) { try context.save() }
        }
        var place = states.count - 1
        for _ in 0..<60 {
            if random.oneIn(8) { try context.save() }
            if random.oneIn(2), place > 0 {
                manager.undo()
                place -= 1
            } else if place < states.count - 1 {
                manager.redo()
                place += 1
            }
            #expect(manager.undoCount == place && manager.redoCount == states.count - 1 - place)
            try require(states[place], "seed \(seed), state \(place)")
        }
        while place > 0 {
            manager.undo()
            place -= 1
            try require(states[place], "seed \(seed), state \(place)")
        }
        try context.save()
        #expect(try store.contents(of: ModelContext(store.container), withIdentifiers: false) == first)
        try context.core.checkInvariants()
    }

    @Test func `an event ends with a save`() throws {
        let (_, books, _) = try store.fill()
        #expect(manager.undoCount == 1)
        books[0].title = "one"
        books[1].title = "two"
        try context.save()
        books[0].title = "three"
        #expect(manager.undoCount == 3)
        context.processPendingChanges()
        books[0].title = "four"
        manager.undo()
        #expect(books[0].title == "three")
        manager.undo()
        #expect(books[0].title == "one")
        manager.undo()
        #expect(books[0].title == "book 1" && books[1].title == "book 2")
        try context.save()
        #expect(try store.contents()[1].contains("book 1"))
        manager.redo()
        #expect(books[0].title == "one" && books[1].title == "two")
    }

    @Test func `a saved deletion returns with its identifier, its values and those that a rule deleted`() throws {
        let (shelf, books, _) = try store.fill()
        let before = try store.contents()
        let identifier = books[1].persistentModelID
        context.delete(shelf)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<UndoBook>()) == 0)
        manager.undo()
        #expect(try context.fetchCount(FetchDescriptor<UndoBook>()) == 3)
        try context.save()
        #expect(try store.contents() == before)
        #expect(books[1].persistentModelID == identifier && !books[1].isDeleted && books[1].scan?.count == 20_000)
        manager.redo()
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<UndoShelf>()) == 0)
    }

    @Test func `rollback drops all changes, and another manager begins without any`() throws {
        let (_, books, _) = try store.fill()
        books[0].title = "one"
        context.rollback()
        #expect(!manager.canUndo)
        books[0].title = "two"
        #expect(manager.canUndo)
        let other = UndoManager()
        context.undoManager = other
        #expect(!manager.canUndo && context.undoManager === other)
        books[0].title = "three"
        other.undo()
        #expect(books[0].title == "book 1")
        context.undoManager = nil
        books[0].title = "four"
        #expect(!other.canUndo)
    }

    @Test func `the context takes its changes along when it ends`() throws {
        weak var object: UndoBook?
        do {
            let context = ModelContext(store.container)
            context.undoManager = manager
            let book = UndoBook(9, "nine")
            context.insert(book)
            try context.save()
            book.title = "changed"
            #expect(manager.undoCount == 2)
            object = book
        }
        #expect(object == nil && !manager.canUndo)
    }

    @Test func `several contexts have one manager`() throws {
        let other = ModelContext(store.container)
        other.undoManager = manager
        let (_, books, _) = try store.fill()
        let seen = try #require(try other.first(\UndoBook.number, equals: 1))
        books[1].title = "one"
        manager.beginUndoGrouping()
        seen.title = "two"
        manager.endUndoGrouping()
        manager.undo()
        #expect(seen.title == "book 1")
        manager.removeAllActions(withTarget: context)
        #expect(!manager.canUndo && manager.canRedo)
    }

    @Test func `registration can be stopped`() throws {
        let (_, books, _) = try store.fill()
        manager.removeAllActions()
        manager.disableUndoRegistration()
        books[0].title = "unseen"
        manager.enableUndoRegistration()
        books[1].title = "seen"
        manager.undo()
        #expect(books[0].title == "unseen" && books[1].title == "book 2" && !manager.canUndo)
    }
}
