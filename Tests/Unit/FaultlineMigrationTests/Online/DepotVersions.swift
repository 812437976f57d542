import Faultline
import Foundation

/// Items of a store without rules.
enum Depot1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Item.self, Shelf.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Shelf {
        var name: String
        init(_ name: String) { self.name = name }
    }

    @Model final class Item {
        var number: Int
        var name: String
        var shelf: Shelf?
        @Attribute(.externalStorage) var photo: Data?
        init(_ number: Int, _ name: String) {
            self.number = number
            self.name = name
        }
    }
}

/// Numbers are unique, names have an index, shelves know their items, and an attribute is new.
enum Depot2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Item.self, Shelf.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Shelf {
        var name: String
        @Relationship(inverse: \Item.shelf) var items: [Item] = []
        init(_ name: String) { self.name = name }
    }

    @Model final class Item {
        #Index<Item>([\.name])
        @Attribute(.unique) var number: Int
        var name: String
        var shelf: Shelf?
        @Attribute(.externalStorage) var photo: Data?
        var note: String = "new"
        init(_ number: Int, _ name: String) {
            self.number = number
            self.name = name
        }
    }
}

/// Names and shelves together are unique too, and shelves have an index.
enum Depot3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Item.self, Shelf.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    @Model final class Shelf {
        #Index<Shelf>([\.name])
        var name: String
        @Relationship(inverse: \Item.shelf) var items: [Item] = []
        init(_ name: String) { self.name = name }
    }

    @Model final class Item {
        #Index<Item>([\.name], [\.note, \.number])
        #Unique<Item>([\.number], [\.name, \.number])
        var number: Int
        var name: String
        var shelf: Shelf?
        @Attribute(.externalStorage) var photo: Data?
        var note: String = "new"
        init(_ number: Int, _ name: String) {
            self.number = number
            self.name = name
        }
    }
}

enum DepotPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Depot1.self, Depot2.self, Depot3.self] }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: Depot1.self, toVersion: Depot2.self),
            .lightweight(fromVersion: Depot2.self, toVersion: Depot3.self),
        ]
    }
}

/// The first stage alone.
enum ShortDepotPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Depot1.self, Depot2.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: Depot1.self, toVersion: Depot2.self)] }
}
