import Faultline
import FaultlineDisk
import Synchronization

enum Library1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Book {
        var title: String
        init(title: String) { self.title = title }
    }
}

enum Library2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Book {
        var title: String
        var pages: Int = 1
        init(title: String) { self.title = title }
    }
}

enum Library3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    @Model final class Book {
        @Attribute(originalName: "title") var name: String
        var initial: String = "-"
        var pages: Int = 1
        init(name: String, initial: String) {
            self.name = name
            self.initial = initial
        }
    }
}

/// The number of calls of a test's closures.
final class Calls: Sendable {
    private let count = Guarded(0)
    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}

enum LibraryPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Library1.self, Library2.self, Library3.self] }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: Library1.self, toVersion: Library2.self),
            .streamed(
                fromVersion: Library2.self, toVersion: Library3.self,
                StreamedEntity(Library2.Book.self) { old, output in
                    try output.insert(Library3.Book(name: old.title, initial: String(old.title.prefix(1))))
                }),
        ]
    }
}

enum FailingLibraryPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { LibraryPlan.schemas }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: Library1.self, toVersion: Library2.self),
            .custom(
                fromVersion: Library2.self, toVersion: Library3.self, willMigrate: nil,
                didMigrate: { _ in throw CancellationError() }),
        ]
    }
}

/// Writes its number of calls into the objects that it makes.
enum CountingLibraryPlan: SchemaMigrationPlan {
    static let calls = TaskLocal(wrappedValue: Calls())
    static var schemas: [any VersionedSchema.Type] { LibraryPlan.schemas }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: Library1.self, toVersion: Library2.self),
            .custom(
                fromVersion: Library2.self, toVersion: Library3.self, willMigrate: nil,
                didMigrate: { context in
                    let number = calls.get().next()
                    for book in try context.fetch(FetchDescriptor<Library3.Book>()) { book.initial = "\(number)" }
                    try context.save()
                }),
        ]
    }
}

/// Saves once more with each call; the objects stay the same.
enum SavingLibraryPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { LibraryPlan.schemas }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: Library1.self, toVersion: Library2.self),
            .custom(
                fromVersion: Library2.self, toVersion: Library3.self, willMigrate: nil,
                didMigrate: { context in
                    for _ in 0..<CountingLibraryPlan.calls.get().next() {
                        for book in try context.fetch(FetchDescriptor<Library3.Book>()) { book.initial = "T" }
                        try context.save()
                    }
                }),
        ]
    }
}
