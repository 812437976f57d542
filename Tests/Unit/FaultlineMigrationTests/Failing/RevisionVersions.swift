import Faultline

// Notes whose words are counted, and marked in a second and a third stage. Marks of the code are in `by`.

enum Note1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Note.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Note {
        var number: Int
        var text: String
        init(number: Int, text: String) {
            self.number = number
            self.text = text
        }
    }
}

enum Note2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Note.self, Word.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Note {
        var number: Int
        var text: String
        var by: String = ""
        init(number: Int, text: String, by: String) {
            self.number = number
            self.text = text
            self.by = by
        }
    }

    @Model final class Word {
        @Attribute(.unique) var text: String
        init(text: String) { self.text = text }
    }
}

enum Note3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Note.self, Word.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    @Model final class Note {
        var number: Int
        var text: String
        var by: String = ""
        var then: String = ""
        init(number: Int, text: String, by: String, then: String) {
            self.number = number
            self.text = text
            self.by = by
            self.then = then
        }
    }

    @Model final class Word {
        @Attribute(.unique) var text: String
        init(text: String) { self.text = text }
    }
}

enum Note4: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Note.self, Word.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(4, 0, 0) }

    @Model final class Note {
        var number: Int
        var text: String
        var by: String = ""
        var then: String = ""
        var last: String = ""
        init(number: Int, text: String, by: String, then: String, last: String) {
            self.number = number
            self.text = text
            self.by = by
            self.then = then
            self.last = last
        }
    }

    @Model final class Word {
        @Attribute(.unique) var text: String
        init(text: String) { self.text = text }
    }
}

/// The stages of a test, from `Note1` on.
enum NotePlan: SchemaMigrationPlan {
    @TaskLocal static var current: [MigrationStage] = []

    static var schemas: [any VersionedSchema.Type] {
        let all: [any VersionedSchema.Type] = [Note1.self, Note2.self, Note3.self, Note4.self]
        return Array(all.prefix(current.count + 1))
    }
    static var stages: [MigrationStage] { current }
}

extension Stores {
    /// Saves the notes from 0 up to a number, and closes the store.
    func fillWithNotes(_ count: Int) throws {
        try use(Note1.self) { _, context in
            for number in 0..<count { context.insert(Note1.Note(number: number, text: "n\(number)")) }
            try context.save()
        }
    }
}
