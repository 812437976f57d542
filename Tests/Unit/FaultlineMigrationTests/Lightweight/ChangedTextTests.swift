import Faultline
import FaultlineLog
import FaultlineStore
import FaultlineTestSupport
import Testing

/// How much a save reads of the rows that it replaces.
struct ChangedTextTests {
    private static let count = 300

    /// Notes of 500 characters are stored in the row, those of 5,000 outside it.
    private static func make(_ stores: Stores, length: Int) throws {
        try stores.use(NoteVersion.self) { _, context in
            for number in 0..<count {
                context.insert(NoteVersion.Note(number, String(repeating: "n", count: length)))
            }
            try context.save()
        }
    }

    private static func blobCount(_ container: ModelContainer) -> Int {
        container.rowStore.log.snapshot().recordCount(of: .blobs)
    }

    @Test func `a save reads no row again whose values lie in it`() throws {
        let stores = Stores()
        try Self.make(stores, length: 500)
        let disk = CountingDisk(over: stores.disk)
        try Stores(disk, stores.directory).use(NoteVersion.self) { container, context in
            let notes = try context.fetch(FetchDescriptor<NoteVersion.Note>(sortBy: [SortDescriptor(\.number)]))
            for note in notes { note.text = "changed \(note.number)" }
            let (_, counts) = try disk.counting { try context.save() }
            #expect(counts.bytesRead < Self.count * 200)
            let read = try ModelContext(container).fetch(
                FetchDescriptor<NoteVersion.Note>(sortBy: [SortDescriptor(\.number)]))
            #expect(read.map(\.text) == (0..<Self.count).map { "changed \($0)" })
        }
    }

    @Test func `a value out of the row goes when another takes its place`() throws {
        let stores = Stores()
        try Self.make(stores, length: 5_000)
        try stores.use(NoteVersion.self) { container, context in
            #expect(Self.blobCount(container) == Self.count)
            let notes = try context.fetch(FetchDescriptor<NoteVersion.Note>())
            for note in notes { note.text = note.number % 2 == 0 ? "short" : String(repeating: "m", count: 6_000) }
            try context.save()
            #expect(Self.blobCount(container) == Self.count / 2)
            // Now the rows of half of the notes are plain, and then change.
            for note in notes where note.number % 2 == 0 { note.text = String(repeating: "o", count: 7_000) }
            try context.save()
            #expect(Self.blobCount(container) == Self.count)
            for note in notes { note.text = "" }
            try context.save()
            #expect(Self.blobCount(container) == 0)
        }
    }

    @Test func `a value out of the row that another context has given goes as well`() throws {
        let stores = Stores()
        try Self.make(stores, length: 500)
        try stores.use(NoteVersion.self) { container, context in
            let mine = try context.fetch(FetchDescriptor<NoteVersion.Note>(sortBy: [SortDescriptor(\.number)]))
            for note in mine { note.text = "mine" }
            let other = ModelContext(container)
            for note in try other.fetch(FetchDescriptor<NoteVersion.Note>()) {
                note.text = String(repeating: "p", count: 5_000)
            }
            try other.save()
            #expect(Self.blobCount(container) == Self.count)
            try context.save()
            #expect(Self.blobCount(container) == 0)
            let read = try ModelContext(container).fetch(FetchDescriptor<NoteVersion.Note>())
            #expect(read.allSatisfy { $0.text == "mine" })
        }
    }
}

private enum NoteVersion: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Note.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Note {
        var number: Int
        var text: String
        init(_ number: Int, _ text: String) {
            self.number = number
            self.text = text
        }
    }
}
