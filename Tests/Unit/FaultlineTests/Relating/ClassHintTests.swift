import Faultline
import FaultlineLog
import FaultlineStore
import Testing

/// References may carry the number of a class in their upper bits, as a later release writes them, without a change of
/// meaning: docs/FileFormat.md 11.2.
struct ClassHintTests {
    /// Sets a hint in every reference of an entity's objects, including nil ones.
    private func setHints(_ name: String, in store: TestStore) throws {
        let rows = store.container.rowStore
        let entity = try #require(rows.storage.entity(named: name))
        let offsets = entity.layout.columns.filter { $0.kind == .toOne }.map(\.offset)
        #expect(!offsets.isEmpty)
        let count = rows.log.snapshot().recordCount(of: entity.table)
        _ = try rows.log.write(author: nil) { transaction in
            for id in 1...RecordID(count) {
                let record = try transaction.record(id, in: entity.table) {
                    (row: Array($0.row), layout: $0.layout, flags: $0.flags)
                }
                var (row, layout, flags) = try #require(record)
                for offset in offsets { row.replaceSubrange(offset + 6..<offset + 8, with: [3, 1]) }
                try transaction.put(
                    id, in: entity.table, layout: layout, changed: SlotMask.all, flags: flags.union(.noIndexChange),
                    byteCount: row.count
                ) { $0.copyBytes(from: row) }
            }
        }
    }

    @Test func isNoPartOfARelationship() throws {
        let store = try TestStore(Folder.self, Document.self, Label.self, Body.self)
        var context = store.context()
        let first = Folder("first"), second = Folder("second")
        context.insert(first)
        context.insert(second)
        for number in 0..<20 {
            let document = Document("\(number)", number: number)
            context.insert(document)
            document.folder = number % 4 == 3 ? nil : number % 4 == 2 ? second : first
        }
        try context.save()
        try setHints("Document", in: store)
        try store.verify()

        context = try store.reopened()
        let documents = try context.all(Document.self, sortBy: [SortDescriptor(\.number)])
        let names: [String?] = [nil, "first", "first", "second"]
        #expect(documents.map { $0.folder?.name } == (0..<20).map { names[($0 + 1) % 4] })
        let without = try context.fetch(FetchDescriptor<Document>(predicate: #Predicate { $0.folder == nil }))
        #expect(without.count == 5)
        let folder = try #require(documents[0].folder)
        #expect(Set(folder.documents.map(\.number)) == [0, 1, 4, 5, 8, 9, 12, 13, 16, 17])
        // A change writes the row without hints, and removes the old index entry.
        documents[0].folder = documents[2].folder
        documents[1].folder = nil
        documents[3].folder = folder
        try context.save()
        #expect(folder.documents.count == 9)

        context = try store.reopened()
        for folder in try context.all(Folder.self) { context.delete(folder) }
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Document>()) == 5)
        try store.verify()
    }

    @Test func isNoPartOfAUniqueValue() throws {
        let store = try TestStore(Hall.self, Seat.self)
        var context = store.context()
        let hall = Hall("north"), other = Hall("south")
        for row in 1...5 { context.insert(Seat(row, hall)) }
        context.insert(other)
        try context.save()
        try setHints("Seat", in: store)
        try store.verify()

        context = try store.reopened()
        let halls = try context.all(Hall.self, sortBy: [SortDescriptor(\.name)])
        // Replaces the existing seat.
        let again = Seat(3, halls[0])
        again.note = "again"
        context.insert(again)
        context.insert(Seat(3, halls[1]))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Seat>()) == 6)

        context = try store.reopened()
        let seats = try context.all(Seat.self, sortBy: [SortDescriptor(\.row)])
        #expect(seats.filter { $0.hall?.name == "north" }.map(\.row) == [1, 2, 3, 4, 5])
        #expect(seats.filter { $0.note == "again" }.count == 1)
        let row = seats.filter { $0.row == 1 }
        row[0].row = 6
        try context.save()
        context.insert(Seat(1, try #require(row[0].hall)))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Seat>()) == 7)
        try store.verify()
    }
}
