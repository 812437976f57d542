import Faultline
import Foundation

// Texts that become unique.

enum Leaf1: VersionedSchema {
    static let long: Set<Int> = [7, 8, 93]
    static var models: [any PersistentModel.Type] { [Leaf.self, Vein.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Leaf {
        var text: String
        init(text: String) { self.text = text }
    }

    /// Carried over as it is.
    @Model final class Vein {
        var leaf: Leaf
        init(leaf: Leaf) { self.leaf = leaf }
    }
}

enum Leaf2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Leaf.self, Vein.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Leaf {
        @Attribute(.unique) var text: String
        init(text: String) { self.text = text }
    }

    @Model final class Vein {
        var leaf: Leaf
        init(leaf: Leaf) { self.leaf = leaf }
    }
}

enum LeafPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Leaf1.self, Leaf2.self] }
    static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: Leaf1.self, toVersion: Leaf2.self,
                StreamedEntity(Leaf1.Leaf.self) { old, output in
                    if old.text != "3" { try output.insert(Leaf2.Leaf(text: old.text)) }
                })
        ]
    }
}
