import Faultline
import FaultlineTestSupport

enum Books1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Book {
        var title: String
        var note: String?
        init(title: String) { self.title = title }
    }
}

enum Books2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Book {
        var title: String
        var words: Int
        init(title: String, words: Int) {
            self.title = title
            self.words = words
        }
    }
}

/// Counts the words of titles; a title without a word stops it.
enum BookPlan: SchemaMigrationPlan {
    struct Wordless: Error {}

    /// Called with each title.
    @TaskLocal static var during = Hook<String> { _ in }

    static var schemas: [any VersionedSchema.Type] { [Books1.self, Books2.self] }
    static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: Books1.self, toVersion: Books2.self,
                StreamedEntity(Books1.Book.self) { old, output in
                    try during(old.title)
                    let words = old.title.split(separator: " ").count
                    guard words > 0 else { throw Wordless() }
                    try output.insert(Books2.Book(title: old.title, words: words))
                })
        ]
    }
}
