import Faultline
import FaultlineMigration

/// A shop's items, shelves, tags and posters: names may occur twice.
enum Shop1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Item.self, Shelf.self, Tag.self, Poster.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Item {
        var name: String
        var price: Double
        var photo: Data?
        var shelf: Shelf?
        var tags: [Tag] = []
        init(name: String, price: Double) {
            self.name = name
            self.price = price
        }
    }

    @Model final class Shelf {
        @Attribute(.unique) var label: String
        @Relationship(deleteRule: .cascade, inverse: \Item.shelf) var items: [Item] = []
        init(label: String) { self.label = label }
    }

    @Model final class Tag {
        var word: String
        @Relationship(inverse: \Item.tags) var items: [Item] = []
        init(word: String) { self.word = word }
    }

    /// Removed in the next version.
    @Model final class Poster {
        var text: String
        var picture: Data?
        init(text: String) { self.text = text }
    }
}

/// Names are unique, cents are added beside prices, posters are removed, and makers are new.
enum Shop2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Item.self, Shelf.self, Tag.self, Maker.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Item {
        @Attribute(.unique) var name: String
        var price: Double
        var cents: Int = 0
        var photo: Data?
        var shelf: Shelf?
        var tags: [Tag] = []
        init(name: String, price: Double) {
            self.name = name
            self.price = price
        }
    }

    @Model final class Shelf {
        @Attribute(.unique) var label: String
        @Relationship(deleteRule: .cascade, inverse: \Item.shelf) var items: [Item] = []
        init(label: String) { self.label = label }
    }

    @Model final class Tag {
        var word: String
        @Relationship(inverse: \Item.tags) var items: [Item] = []
        init(word: String) { self.word = word }
    }

    @Model final class Maker {
        var text: String
        var picture: Data?
        init(text: String) { self.text = text }
    }
}

/// Prices are removed, only cents remain, and the classes are listed in another order.
enum Shop3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Tag.self, Shelf.self, Item.self, Maker.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    @Model final class Item {
        @Attribute(.unique) var name: String
        var cents: Int = 0
        var photo: Data?
        var shelf: Shelf?
        var tags: [Tag] = []
        init(name: String) { self.name = name }
    }

    @Model final class Shelf {
        @Attribute(.unique) var label: String
        @Relationship(deleteRule: .cascade, inverse: \Item.shelf) var items: [Item] = []
        init(label: String) { self.label = label }
    }

    @Model final class Tag {
        var word: String
        @Relationship(inverse: \Item.tags) var items: [Item] = []
        init(word: String) { self.word = word }
    }

    @Model final class Maker {
        var text: String
        var picture: Data?
        init(text: String) { self.text = text }
    }
}

/// Photos are removed, and tags have notes.
enum Shop4: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Item.self, Shelf.self, Tag.self, Maker.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(4, 0, 0) }

    @Model final class Item {
        @Attribute(.unique) var name: String
        var cents: Int = 0
        var shelf: Shelf?
        var tags: [Tag] = []
        init(name: String) { self.name = name }
    }

    @Model final class Shelf {
        @Attribute(.unique) var label: String
        @Relationship(deleteRule: .cascade, inverse: \Item.shelf) var items: [Item] = []
        init(label: String) { self.label = label }
    }

    @Model final class Tag {
        var word: String
        var note: String?
        @Relationship(inverse: \Item.tags) var items: [Item] = []
        init(word: String) { self.word = word }
    }

    @Model final class Maker {
        var text: String
        var picture: Data?
        init(text: String) { self.text = text }
    }
}

/// The stages of `ShopPlan` for one test.
// Safe because a migration runs on the thread of its test.
final class ShopStages: @unchecked Sendable {
    typealias Closure = @Sendable (ModelContext) throws -> Void

    let stages: [MigrationStage]
    @TaskLocal static var current = ShopStages([])

    init(_ stages: [MigrationStage]) { self.stages = stages }

    static func custom(will: Closure? = nil, did: Closure? = nil) -> MigrationStage {
        .custom(fromVersion: Shop1.self, toVersion: Shop2.self, willMigrate: will, didMigrate: did)
    }

    static func second(will: Closure? = nil, did: Closure? = nil) -> MigrationStage {
        .custom(fromVersion: Shop2.self, toVersion: Shop3.self, willMigrate: will, didMigrate: did)
    }

    static let light = MigrationStage.lightweight(fromVersion: Shop1.self, toVersion: Shop2.self)
    static let secondLight = MigrationStage.lightweight(fromVersion: Shop2.self, toVersion: Shop3.self)
}

enum ShopPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] {
        let all: [any VersionedSchema.Type] = [Shop1.self, Shop2.self, Shop3.self, Shop4.self]
        return Array(all.prefix(ShopStages.current.stages.count + 1))
    }
    static var stages: [MigrationStage] { ShopStages.current.stages }
}

/// A value that closures of a stage share with each other and with their test.
// Safe because a migration runs on the thread of its test.
final class Box<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}
