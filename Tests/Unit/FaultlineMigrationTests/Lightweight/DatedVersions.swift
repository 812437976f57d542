import Faultline

/// Stamps: the second version adds values with defaults, which change both within a version and with a new one.
enum Stamps1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Stamp.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Stamp {
        var name: String
        var place: String?
        init(name: String) { self.name = name }
    }
}

enum Stamps2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Stamp.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Stamp {
        var name: String
        var place: String = "first"
        var rank: Int32 = 1
        var note: String?
        var tags: [String] = ["a"]
        var printed: Date = Date(timeIntervalSinceReferenceDate: 1)
        init(name: String) { self.name = name }
    }
}

/// The second version with other defaults.
enum Stamps2Later: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Stamp.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Stamp {
        var name: String
        var place: String = "second"
        var rank: Int32 = 2
        var note: String? = "new"
        var tags: [String] = ["b", "c"]
        var printed: Date = Date(timeIntervalSinceReferenceDate: 2)
        init(name: String) { self.name = name }
    }
}

/// Values become wider or optional again, are renamed, and get other defaults.
enum Stamps3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Stamp.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    @Model final class Stamp {
        var name: String
        var place: String?
        @Attribute(originalName: "rank") var grade: Int64 = 3
        var note: String? = "newer"
        var tags: [String] = ["d"]
        var printed: Date = Date(timeIntervalSinceReferenceDate: 3)
        init(name: String) { self.name = name }
    }
}

enum StampsPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Stamps1.self, Stamps2.self, Stamps3.self] }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: Stamps1.self, toVersion: Stamps2.self),
            .lightweight(fromVersion: Stamps2.self, toVersion: Stamps3.self),
        ]
    }
}

/// The same versions, with the rows copied between the second and the third.
enum CopyingStampsPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Stamps1.self, Stamps2.self, Stamps3.self] }
    static var stages: [MigrationStage] {
        [
            .custom(fromVersion: Stamps1.self, toVersion: Stamps2.self, willMigrate: { _ in }, didMigrate: nil),
            .custom(fromVersion: Stamps2.self, toVersion: Stamps3.self, willMigrate: nil, didMigrate: { _ in }),
        ]
    }
}
