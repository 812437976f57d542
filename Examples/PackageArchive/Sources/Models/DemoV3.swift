import Faultline

/// The demo's third schema: maintainers are objects, and the large file is in an object of its own, outside its row.
enum DemoV3: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] {
        [Package.self, Relation.self, Section.self, Source.self, Maintainer.self, Payload.self]
    }

    @Model final class Package {
        @Attribute(.unique) var key: String
        var name: String
        var architecture: String
        var version: String
        var sourceVersion: String
        var synopsis: String
        var details: String?
        var website: String?
        var installedByteCount: Int?
        var downloadByteCount: Int?
        var isInstalled: Bool
        var isPinned: Bool = false
        var section: Section?
        var source: Source?
        var maintainer: Maintainer?
        @Relationship(deleteRule: .cascade, inverse: \Payload.package) var payload: Payload?
        @Relationship(deleteRule: .cascade, inverse: \Relation.owner) var relations: [Relation] = []

        /// Copies the values that both versions have.
        init(_ old: DemoV2.Package) {
            key = old.key
            name = old.name
            architecture = old.architecture
            version = old.version
            sourceVersion = old.sourceVersion
            synopsis = old.synopsis
            details = old.details
            website = old.website
            installedByteCount = old.installedByteCount
            downloadByteCount = old.downloadByteCount
            isInstalled = old.isInstalled
            isPinned = old.isPinned
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

    /// A maintainer of packages: one object for each name and mail address.
    @Model final class Maintainer {
        #Unique<Maintainer>([\.name, \.mail])

        var name: String
        /// Empty where the source gives none.
        var mail: String
        @Relationship(inverse: \Package.maintainer) var packages: [Package] = []

        init(_ written: WrittenMaintainer) {
            name = written.name
            mail = written.mail
        }
    }

    /// A package's largest file.
    @Model final class Payload {
        var path: String
        @Attribute(.externalStorage) var bytes: Data
        var package: Package?

        init(path: String) {
            self.path = path
            bytes = Data()
        }
    }
}
