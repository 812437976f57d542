import Faultline
import FaultlineTestSupport
import Testing

/// Cases in which an undo could reach too far.
struct UndoCaseTests {
    private let folder = TemporaryDirectory()
    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        container = try Self.open(folder)
        context = ModelContext(container)
    }

    private static func open(_ folder: TemporaryDirectory, allowsSave: Bool = true) throws -> ModelContainer {
        try ModelContainer(
            for: UndoAlbum.self, UndoPicture.self, UndoShelf.self, UndoBook.self, UndoReader.self, UndoCard.self,
            configurations: ModelConfiguration(url: URL(filePath: folder.path + "/store"), allowsSave: allowsSave))
    }

    private func lastSave() throws -> DefaultHistoryTransaction {
        try #require(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last)
    }

    private func pictures() throws -> Int { try context.fetchCount(FetchDescriptor<UndoPicture>()) }

    /// An album with older pictures, by relationships that cascade and have no inverse.
    private func insertAlbum() throws -> UndoAlbum {
        let old = (0..<3).map { UndoPicture($0) }
        old.forEach(context.insert)
        try context.save()
        let album = UndoAlbum("a")
        album.cover = old[0]
        album.pictures = [old[1], old[2]]
        context.insert(album)
        return album
    }

    @Test func `the undo of an insertion deletes no older object, by no rule`() throws {
        _ = try insertAlbum()
        try context.save()
        #expect(try context.undo(lastSave()).deletedCount == 1)
        try context.save()
        #expect(try pictures() == 3 && context.fetchCount(FetchDescriptor<UndoAlbum>()) == 0)
        // Of the manager: before a save, and after one.
        for isSaved in [false, true] {
            let manager = UndoManager()
            context.undoManager = manager
            let old = try context.fetch(FetchDescriptor<UndoPicture>())
            manager.beginUndoGrouping()
            let album = UndoAlbum("b")
            album.cover = old[0]
            album.pictures = [old[1]]
            context.insert(album)
            manager.endUndoGrouping()
            if isSaved { try context.save() }
            manager.undo()
            try context.save()
            #expect(try pictures() == 3 && context.fetchCount(FetchDescriptor<UndoAlbum>()) == 0)
            manager.redo()
            try context.save()
            #expect(try context.first(\UndoAlbum.name, equals: "b")?.pictures.map(\.number) == [old[1].number])
            manager.undo()
            try context.save()
        }
    }

    @Test func `the manager does not delete a stored object that an insertion has replaced`() throws {
        let first = UndoAlbum("a")
        first.note = "old"
        context.insert(first)
        try context.save()
        let manager = UndoManager()
        context.undoManager = manager
        let second = UndoAlbum("a")
        second.note = "new"
        context.insert(second)
        try context.save()
        manager.undo()
        try context.save()
        #expect(try context.fetch(FetchDescriptor<UndoAlbum>()).map(\.note) == ["new"])
        // The undo of the save sets the old values.
        try context.undo(lastSave())
        try context.save()
        #expect(try context.fetch(FetchDescriptor<UndoAlbum>()).map(\.note) == ["old"] && first.note == "old")
    }

    @Test func `keepLater keeps a partner that another object has taken`() throws {
        let (ada, bob, card) = (UndoReader("Ada"), UndoReader("Bob"), UndoCard(10))
        ada.card = card
        context.insert(ada)
        context.insert(bob)
        try context.save()
        ada.card = nil
        try context.save()
        let save = try lastSave()
        bob.card = card
        try context.save()
        let summary = try context.undo(save, conflicts: .keepLater)
        #expect(summary.conflicts.map(\.property) == ["reader"])
        #expect(ada.card == nil && bob.card === card)
        context.rollback()

        bob.card = nil
        ada.card = card
        try context.save()
        context.delete(ada)
        try context.save()
        let deletion = try lastSave()
        bob.card = card
        try context.save()
        try context.undo(deletion, conflicts: .keepLater)
        try context.save()
        #expect(bob.card === card && card.reader === bob)
        #expect(try context.fetch(FetchDescriptor<UndoReader>(predicate: #Predicate { $0.name == "Ada" })).count == 1)
    }

    @Test func `a second undo waits for the save of restored objects`() throws {
        context.insert(UndoPicture(1))
        try context.save()
        let first = try lastSave()
        context.delete(try #require(try context.fetch(FetchDescriptor<UndoPicture>()).first))
        try context.save()
        try context.undo(lastSave())
        let error = #expect(throws: SwiftDataError.self) { try context.undo(first) }
        #expect("\(try #require(error))".contains("Save, or roll back"))
        try context.save()
        #expect(try context.undo(first).deletedCount == 1)
        try context.save()
        #expect(try pictures() == 0)
    }

    @Test func `contexts of other containers, and readers, see restored objects again`() throws {
        for number in 0..<3 { context.insert(UndoPicture(number)) }
        try context.save()
        let other = ModelContext(try Self.open(folder))
        let reader = ModelContext(try Self.open(folder, allowsSave: false))
        let order = FetchDescriptor<UndoPicture>(sortBy: [SortDescriptor(\.number)])
        let seen = try other.fetch(order)
        let read = try reader.fetch(order)
        try context.delete(model: UndoPicture.self)
        try context.save()
        let save = try lastSave()
        for context in [other, reader] {
            context.errorHandler = { _ in }
            #expect(try context.fetchCount(order) == 0)
        }
        #expect(seen[1].number == 0 && seen[1].isDeleted && read[1].number == 0 && read[1].isDeleted)
        try context.undo(save)
        try context.save()
        #expect(try other.fetch(order).elementsEqual(seen, by: ===))
        #expect(try reader.fetch(order).elementsEqual(read, by: ===))
        #expect(seen.map(\.number) == [0, 1, 2] && read.map(\.number) == [0, 1, 2] && !seen[1].isDeleted)
    }

    @Test func `a save whose state the log no longer has is refused`() throws {
        let picture = UndoPicture(0)
        context.insert(picture)
        try context.save()
        let save = try lastSave()
        for number in 1..<200 {
            picture.number = number
            try context.save()
        }
        try container.checkpoint()
        _ = try container.compact()
        try container.checkpoint()
        picture.number = 1_000
        try context.save()
        let error = #expect(throws: BackupError.self) { try context.undo(save) }
        #expect(error?.code == .notInLog && !context.hasChanges)
        #expect(try context.undo(lastSave()).changedCount == 1)
        #expect(picture.number == 199)
    }
}
