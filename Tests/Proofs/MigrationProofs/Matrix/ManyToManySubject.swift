import Faultline
import FaultlineMigration
import Foundation

enum ManyToMany1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Note.self, Tag.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Note {
        var number: Int
        @Relationship(inverse: \Tag.notes) var tags: [Tag] = []
        init(number: Int) { self.number = number }
    }

    @Model final class Tag {
        var number: Int
        var notes: [Note] = []
        init(number: Int) { self.number = number }
    }
}

/// The same with a title, and with an index of the notes' numbers.
enum ManyToMany2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Note.self, Tag.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Note {
        #Index<Note>([\.number])
        var number: Int
        var title: String = ""
        @Relationship(inverse: \Tag.notes) var tags: [Tag] = []
        init(number: Int, title: String) {
            self.number = number
            self.title = title
        }
    }

    @Model final class Tag {
        var number: Int
        var notes: [Note] = []
        init(number: Int) { self.number = number }
    }
}

/// Sets the title of each note; its tags are those of the old one.
final class NotePolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let note = try manager.destinationContext.insertNewObject(forEntityName: "Note")
        note["number"] = sInstance["number"]
        note["title"] = "N"
        try manager.associate(sourceInstance: sInstance, withDestinationInstance: note, for: mapping)
    }
}

enum ManyToManyPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [ManyToMany1.self, ManyToMany2.self] }
    static var stages: [MigrationStage] {
        [
            MatrixKind.stage(
                from: ManyToMany1.self, to: ManyToMany2.self, streamed: { streamed },
                mapped: MappingModel(
                    EntityMapping(
                        from: "Note", to: "Note", attributes: [PropertyMapping("title", .constant("N"))]),
                    EntityMapping(from: "Tag", to: "Tag")),
                policy: MappingModel(
                    EntityMapping(from: "Note", to: "Note", policy: NotePolicy.self),
                    EntityMapping(from: "Tag", to: "Tag")),
                custom: { context in
                    try saveInBatches(context, ManyToMany2.Note.self, every: 100) { note in
                        note.title = "N"
                        // Each link is read, and the first one is moved to the end.
                        note.tags.append(note.tags.removeFirst())
                    }
                })
        ]
    }

    private static var streamed: MigrationStage {
        .streamed(
            fromVersion: ManyToMany1.self, toVersion: ManyToMany2.self,
            StreamedEntity(ManyToMany1.Tag.self) { old, output in
                try output.insert(ManyToMany2.Tag(number: old.number))
            },
            StreamedEntity(ManyToMany1.Note.self) { old, output in
                let new = ManyToMany2.Note(number: old.number, title: "N")
                try output.insert(new)
                new.tags = try old.tags.compactMap { try output.object(migratedFrom: $0, as: ManyToMany2.Tag.self) }
            })
    }
}

enum ManyToManySubject: MatrixSubject {
    static let linksOfObject = 100

    static var oldModels: [any PersistentModel.Type] { ManyToMany1.models }
    static func newModels(_ kind: MatrixCell.Kind) -> [any PersistentModel.Type] { ManyToMany2.models }
    static func plan(_ kind: MatrixCell.Kind) -> any SchemaMigrationPlan.Type { ManyToManyPlan.self }

    /// The number of a note's tag, scattered over all tags.
    private static func tag(_ place: Int, of note: Int, _ count: Int) -> Int { (note + place * 97) % count }

    static func fill(_ context: ModelContext, _ size: Int) throws {
        let count = size / 2
        let tags = (0..<count).map { ManyToMany1.Tag(number: $0) }
        for tag in tags { context.insert(tag) }
        try context.save()
        for number in 0..<count {
            let note = ManyToMany1.Note(number: number)
            context.insert(note)
            note.tags = (0..<linksOfObject).map { tags[tag($0, of: number, count)] }
            if number % 100 == 99 { try context.save() }
        }
        try context.save()
    }

    static func isRight(_ context: ModelContext, _ size: Int, _ kind: MatrixCell.Kind) throws -> Bool {
        let count = size / 2
        let title = kind == .lightweight ? "" : "N"
        guard
            try context.fetchCount(FetchDescriptor<ManyToMany2.Note>(predicate: #Predicate { $0.title == title }))
                == count
        else { return false }
        var isRight = try context.fetchCount(FetchDescriptor<ManyToMany2.Tag>()) == count
        try context.enumerate(FetchDescriptor<ManyToMany2.Note>(), batchSize: 100) { note in
            var expected = (0..<linksOfObject).map { tag($0, of: note.number, count) }
            if kind == .custom { expected.append(expected.removeFirst()) }
            if note.tags.map(\.number) != expected { isRight = false }
        }
        try context.enumerate(FetchDescriptor<ManyToMany2.Tag>(), batchSize: 100) { tag in
            if tag.relationship(\.notes).count != linksOfObject { isRight = false }
        }
        return isRight
    }
}
