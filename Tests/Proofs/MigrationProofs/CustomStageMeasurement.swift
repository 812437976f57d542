import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineTestSupport
import Foundation
import Synchronization

/// Measures the memory of custom stages whose closures save once, at their end, as code for SwiftData does.
///
/// Each shape is measured in a process of its own, over a new store.
struct CustomStageMeasurement {
    /// The work of the closure before its one save.
    enum Shape: String, CaseIterable {
        /// Sets a value of 8 KiB on each stored object.
        case values
        /// Inserts objects with a value of 8 KiB.
        case insertedValues
        /// Inserts small objects.
        case inserts
        /// Changes a property of each stored object.
        case changes
        /// Inserts small objects that refer to one of a hundred stored ones.
        case members
        /// Gives each stored object a hundred tags, many to many.
        case links
        /// Gives the photo of each stored object, of 100 KiB, to an object of its own.
        case photos
        /// Reads each stored object, and changes nothing: the faults that the closure holds.
        case reads
    }

    static let valueByteCount = 8_192
    static let photoByteCount = 102_400
    static let tagCount = 100

    let shape: Shape
    let count: Int
    let ceiling: Int

    init(_ arguments: [String]) throws {
        guard arguments.count == 3, let shape = Shape(rawValue: arguments[0]), let count = Int(arguments[1]),
            let ceiling = Int(arguments[2]), count > 0, count <= 10_000_000, ceiling > 0, ceiling <= 1 << 20
        else {
            let names = Shape.allCases.map(\.rawValue).joined(separator: ", ")
            throw WrongUsage(message: "one of \(names) is needed, a count, and a ceiling")
        }
        self.shape = shape
        self.count = count
        self.ceiling = ceiling << 20
    }

    /// Objects in the store before the stage.
    private var storedCount: Int {
        switch shape {
        case .values, .changes, .photos, .reads: count
        case .insertedValues, .inserts, .members: 100
        case .links: max(1, count / Self.tagCount)
        }
    }

    func run() throws -> Int32 {
        let folder = TemporaryDirectory()
        let store = folder.path + "/store"
        try prepare(store)
        StagedClosure.current.withLock { $0 = { [shape, count] in try Self.migrate($0, shape, count) } }
        let rise = try PeakMemory.Rise()
        let before = rise.before
        let start = ContinuousClock.now
        let container = try ModelContainer(
            for: Staged2.models, migrationPlan: StagedPlan.self, directory: store, on: PosixDisk(),
            options: LogOptions(), migration: MigrationOptions(memoryCeiling: ceiling))
        let duration = ContinuousClock.now - start
        let peak = try rise.byteCount()
        let marks = StagedClosure.marks.withLock { $0 }
        let isRight = try isRight(ModelContext(container))
        try container.close()
        print(
            """
            {"shape":"\(shape.rawValue)","count":\(count),"ceiling":\(ceiling >> 20),"fetched":\(marks[0] - before),\
            "unsaved":\(marks[1] - before),"saved":\(marks[2] - before),"over_baseline":\(peak),\
            "bytes_each":\(peak / count),"seconds":\(duration / .seconds(1)),"right":\(isRight)}
            """)
        return isRight ? 0 : 1
    }

    private func prepare(_ store: String) throws {
        let container = try ModelContainer(
            for: Staged1.models, directory: store, on: PosixDisk(), options: LogOptions())
        let context = ModelContext(container)
        for number in 0..<storedCount {
            let note = Staged1.Note(number: number, text: "The text of note \(number)")
            if shape == .photos { note.photo = Self.photo(number) }
            context.insert(note)
            if number % (shape == .photos ? 100 : 2_000) == 0 { try context.save() }
        }
        for number in 0..<Self.tagCount { context.insert(Staged1.Tag(name: "Tag \(number)")) }
        try context.save()
        try container.close()
    }

    private static func photo(_ number: Int) -> Data {
        var random = Seed(UInt64(number))
        return Data(random.bytes(photoByteCount))
    }

    private static func value(_ number: Int) -> Data {
        var random = Seed(UInt64(number))
        return Data(random.bytes(valueByteCount))
    }

    private static func migrate(_ context: ModelContext, _ shape: Shape, _ count: Int) throws {
        let notes = try context.fetch(FetchDescriptor<Staged2.Note>())
        try StagedClosure.mark()
        switch shape {
        case .values:
            for note in notes { note.body = value(note.number) }
        case .insertedValues:
            for number in 0..<count {
                let note = Staged2.Note(number: number + 100, text: "New \(number)")
                note.body = value(number + 100)
                context.insert(note)
            }
        case .inserts:
            for number in 0..<count { context.insert(Staged2.Line(number: number, text: "Line \(number)")) }
        case .changes:
            for note in notes { note.text = "A new text of note \(note.number)" }
        case .members:
            for number in 0..<count {
                let line = Staged2.Line(number: number, text: "Line \(number)")
                context.insert(line)
                line.note = notes[number % notes.count]
            }
        case .links:
            let tags = try context.fetch(FetchDescriptor<Staged2.Tag>())
            for note in notes { note.tags = tags }
        case .photos:
            for note in notes {
                guard let photo = note.photo else { continue }
                let page = Staged2.Page(bytes: photo)
                context.insert(page)
                note.page = page
                note.photo = nil
            }
        case .reads:
            var sum = 0
            for note in notes { sum += note.text.utf8.count }
        }
        try StagedClosure.mark()
        try context.save()
        try StagedClosure.mark()
    }

    private func isRight(_ context: ModelContext) throws -> Bool {
        let newCount = [.inserts, .members].contains(shape) ? count : 0
        guard try context.fetchCount(FetchDescriptor<Staged2.Line>()) == newCount else { return false }
        var isRight = true
        var seen = 0
        try context.enumerate(FetchDescriptor<Staged2.Note>()) { note in
            seen += 1
            let hasValue = shape == .values || shape == .insertedValues && note.number >= 100
            if note.body != (hasValue ? Self.value(note.number) : nil) { isRight = false }
            if shape == .changes, note.text != "A new text of note \(note.number)" { isRight = false }
            if shape == .links, note.tags.count != Self.tagCount { isRight = false }
            if note.page?.bytes != (shape == .photos ? Self.photo(note.number) : nil) { isRight = false }
            if shape == .members, note.number == 99, note.lines.count < count / 100 { isRight = false }
        }
        return isRight && seen == storedCount + (shape == .insertedValues ? count : 0)
    }
}

/// The code of the measured stage, and the resident memory at its points.
private enum StagedClosure {
    static let current = Guarded<(@Sendable (ModelContext) throws -> Void)?>(nil)
    static let marks = Guarded<[Int]>([])

    static func mark() throws {
        let resident = try PeakMemory.known(PeakMemory.residentByteCount, "VmRSS")
        marks.withLock { $0.append(resident) }
    }
}

enum Staged1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Note.self, Tag.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Note {
        var number: Int
        var text: String
        @Attribute(.externalStorage) var photo: Data?
        init(number: Int, text: String) {
            self.number = number
            self.text = text
        }
    }

    @Model final class Tag {
        var name: String
        init(name: String) { self.name = name }
    }
}

enum Staged2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Note.self, Tag.self, Line.self, Page.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Note {
        var number: Int
        var text: String
        var body: Data?
        @Attribute(.externalStorage) var photo: Data?
        @Relationship(deleteRule: .cascade) var page: Page?
        @Relationship(inverse: \Tag.notes) var tags: [Tag] = []
        @Relationship(inverse: \Line.note) var lines: [Line] = []
        init(number: Int, text: String) {
            self.number = number
            self.text = text
        }
    }

    @Model final class Tag {
        var name: String
        var notes: [Note] = []
        init(name: String) { self.name = name }
    }

    @Model final class Page {
        @Attribute(.externalStorage) var bytes: Data
        init(bytes: Data) { self.bytes = bytes }
    }

    @Model final class Line {
        var number: Int
        var text: String
        var note: Note?
        init(number: Int, text: String) {
            self.number = number
            self.text = text
        }
    }
}

enum StagedPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Staged1.self, Staged2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: Staged1.self, toVersion: Staged2.self, willMigrate: nil,
                didMigrate: { context in try StagedClosure.current.withLock { $0 }?(context) })
        ]
    }
}
