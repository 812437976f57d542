import Faultline

// Books, for the errors of migrations.

enum Tomes1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Book {
        var title: String
        var pages: Int = 0
        init(title: String, pages: Int = 0) {
            self.title = title
            self.pages = pages
        }
    }
}

enum Tomes2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Book {
        var title: String
        var pages: Int = 0
        var year: Int = 0
        init(title: String) { self.title = title }
    }
}

enum Tomes3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    @Model final class Book {
        var title: String
        var pages: Int = 0
        var year: Int = 0
        var author: String?
        init(title: String) { self.title = title }
    }
}

/// Nearest to `Tomes2`.
enum StrangeTomes: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 5, 0) }

    @Model final class Book {
        var title: String
        var pages: Int = 0
        var year: Int = 0
        var price: Double = 0
        var shelf: String?
        init(title: String) { self.title = title }
    }
}

/// A required attribute without a default.
enum HardTomes: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(4, 0, 0) }

    @Model final class Book {
        var title: String
        var pages: Int = 0
        var isbn: String
        init(title: String) {
            self.title = title
            isbn = ""
        }
    }
}

/// Titles are unique.
enum UniqueTomes: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(4, 0, 0) }

    @Model final class Book {
        @Attribute(.unique) var title: String
        var pages: Int = 0
        var year: Int = 0
        init(title: String) { self.title = title }
    }
}

/// The versions and the stages of a test.
enum TomePlan: SchemaMigrationPlan {
    @TaskLocal static var versions: [any VersionedSchema.Type] = []
    @TaskLocal static var way: [MigrationStage] = []
    @TaskLocal static var dropped: [DroppedVersion] = []

    static var schemas: [any VersionedSchema.Type] { versions }
    static var stages: [MigrationStage] { way }
    static var droppedVersions: [DroppedVersion] { dropped }
}
