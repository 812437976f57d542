import Faultline

/// The demo's second schema: it adds an attribute, drops one, renames one, and makes one optional.
///
/// No code, and no object rewritten.
enum DemoV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Package.self, Relation.self, Section.self, Source.self] }

    @Model final class Package {
        @Attribute(.unique) var key: String
        var name: String
        var architecture: String
        var version: String
        var maintainer: String
        var sourceVersion: String
        var synopsis: String
        /// Required before.
        var details: String?
        /// `homepage` before.
        @Attribute(originalName: "homepage") var website: String?
        var installedByteCount: Int?
        var downloadByteCount: Int?
        var isInstalled: Bool
        /// New; `priority` is gone.
        var isPinned: Bool = false
        var payload: Data?
        var payloadPath: String?
        var section: Section?
        var source: Source?
        @Relationship(deleteRule: .cascade, inverse: \Relation.owner) var relations: [Relation] = []

        init(key: String) {
            self.key = key
            name = ""
            architecture = ""
            version = ""
            maintainer = ""
            sourceVersion = ""
            synopsis = ""
            isInstalled = false
        }
    }

    @Model final class Relation {
        var kind: Int
        var group: Int
        var position: Int
        var targetName: String
        var targetArchitecture: String
        var comparison: Int
        var targetVersion: String
        var owner: Package?
        @Relationship(inverse: nil) var target: Package?

        init(targetName: String) {
            kind = 0
            group = 0
            position = 0
            self.targetName = targetName
            targetArchitecture = ""
            comparison = 0
            targetVersion = ""
        }
    }

    @Model final class Section {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Package.section) var packages: [Package] = []

        init(name: String) { self.name = name }
    }

    @Model final class Source {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Package.source) var packages: [Package] = []

        init(name: String) { self.name = name }
    }
}
