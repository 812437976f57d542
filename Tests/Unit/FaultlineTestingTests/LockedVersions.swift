import Faultline

/// A plan in its released form.
enum Shelf1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Book {
        var title: String
        init(title: String) { self.title = title }
    }
}

enum Shelf2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Book {
        var title: String
        var pages: Int = 0
        init(title: String) { self.title = title }
    }
}

/// The second version, changed after its release.
enum ChangedShelf2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Book {
        var title: String
        var pages: String = ""
        init(title: String) { self.title = title }
    }
}

enum ShelfPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Shelf1.self, Shelf2.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: Shelf1.self, toVersion: Shelf2.self)] }
}

enum ChangedShelfPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Shelf1.self, ChangedShelf2.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: Shelf1.self, toVersion: ChangedShelf2.self)] }
}
