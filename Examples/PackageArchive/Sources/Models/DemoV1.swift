import Faultline

/// The demo's first schema, as people write one: a maintainer is a line of text, and the large file lies in the
/// package.
enum DemoV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Package.self, Relation.self, Section.self, Source.self] }

    @Model final class Package {
        /// Name and architecture, such as `bash:amd64`.
        @Attribute(.unique) var key: String
        var name: String
        var architecture: String
        var version: String
        var priority: String
        /// `Name <mail>`.
        var maintainer: String
        var sourceVersion: String
        var synopsis: String
        var details: String
        var homepage: String?
        var installedByteCount: Int?
        var downloadByteCount: Int?
        var isInstalled: Bool
        /// The package's largest file.
        ///
        /// The author did not think of `.externalStorage`.
        var payload: Data?
        var payloadPath: String?
        var section: Section?
        var source: Source?
        @Relationship(deleteRule: .cascade, inverse: \Relation.owner) var relations: [Relation] = []

        init(_ package: ImportedPackage) {
            key = package.key
            name = package.name
            architecture = package.architecture
            version = package.version
            priority = package.priority
            maintainer = package.maintainer
            sourceVersion = package.sourceVersion
            synopsis = package.synopsis
            details = package.details
            homepage = package.homepage.isEmpty ? nil : package.homepage
            installedByteCount = package.installedByteCount
            downloadByteCount = package.downloadByteCount
            isInstalled = package.isInstalled
        }
    }

    /// One alternative of one relation that a package declares.
    @Model final class Relation {
        var kind: Int
        var group: Int
        var position: Int
        var targetName: String
        var targetArchitecture: String
        var comparison: Int
        var targetVersion: String
        var owner: Package?
        /// Nil for a virtual package, or one that is unknown here.
        @Relationship(inverse: nil) var target: Package?

        init(_ relation: ImportedRelation, owner: Package, target: Package?) {
            kind = Int(relation.kind.rawValue)
            group = Int(relation.group)
            position = Int(relation.position)
            targetName = relation.targetName
            targetArchitecture = relation.targetArchitecture
            comparison = Int(relation.comparison.rawValue)
            targetVersion = relation.targetVersion
            self.owner = owner
            self.target = target
        }
    }

    @Model final class Section {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Package.section) var packages: [Package] = []

        init(name: String) { self.name = name }
    }

    /// The source of packages.
    @Model final class Source {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Package.source) var packages: [Package] = []

        init(name: String) { self.name = name }
    }
}

extension ImportedPackage {
    /// Name and architecture in one text: the unique key that an import recognises a package by.
    var key: String { "\(name):\(architecture)" }
}
