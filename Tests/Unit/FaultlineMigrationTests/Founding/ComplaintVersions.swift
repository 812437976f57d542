import Faultline
import FaultlineMigration
import FaultlineTestSupport
import Foundation

/// Photos with the properties that have caused problems in other libraries: large external values, a number kept as
/// text.
///
/// Several versions list the classes that do not change.
enum Album1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Photo.self, Place.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Photo {
        var name: String
        var width: String
        @Attribute(.externalStorage) var bytes: Data?
        init(name: String, width: String) {
            self.name = name
            self.width = width
        }
    }

    /// The same class in all versions, declared once.
    @Model final class Place {
        var town: String
        init(town: String) { self.town = town }
    }
}

/// The second version: photos have a rating.
enum Album2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Photo.self, Album1.Place.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Photo {
        var name: String
        var width: String
        var rating: Int = 0
        @Attribute(.externalStorage) var bytes: Data?
        init(name: String, width: String) {
            self.name = name
            self.width = width
        }
    }
}

/// The third version: photos also have an initial, which code derives from the name.
enum Album3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Photo.self, Album1.Place.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    @Model final class Photo {
        var name: String
        var width: String
        var rating: Int = 0
        var initial: String = ""
        @Attribute(.externalStorage) var bytes: Data?
        init(name: String, width: String) {
            self.name = name
            self.width = width
        }
    }
}

/// The fourth version: the width is a number.
enum Album4: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Photo.self, Album1.Place.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(4, 0, 0) }

    @Model final class Photo {
        var name: String
        var width: Double
        var initial: String
        @Attribute(.externalStorage) var bytes: Data?
        init(name: String, width: Double, initial: String) {
            self.name = name
            self.width = width
            self.initial = initial
        }
    }
}

/// The fifth version: the name becomes a title, and the bytes become a picture.
enum Album5: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Photo.self, Album1.Place.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(5, 0, 0) }

    @Model final class Photo {
        var title: String
        var width: Double
        var initial: String
        @Attribute(.externalStorage) var picture: Data?
        init(title: String, width: Double, initial: String) {
            self.title = title
            self.width = width
            self.initial = initial
        }
    }
}

/// A plan with a stage of every kind.
enum AlbumPlan: SchemaMigrationPlan {
    /// Called with each old object of the streamed stage.
    @TaskLocal static var meets = Hook<AnyObject> { _ in }

    static var schemas: [any VersionedSchema.Type] {
        [Album1.self, Album2.self, Album3.self, Album4.self, Album5.self]
    }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: Album1.self, toVersion: Album2.self),
            .custom(
                fromVersion: Album2.self, toVersion: Album3.self, willMigrate: nil,
                didMigrate: { context in
                    for photo in try context.fetch(FetchDescriptor<Album3.Photo>()) {
                        photo.initial = String(photo.name.prefix(1))
                    }
                    try context.save()
                }),
            .streamed(
                fromVersion: Album3.self, toVersion: Album4.self,
                StreamedEntity(Album3.Photo.self) { old, output in
                    try meets(old)
                    let new = Album4.Photo(name: old.name, width: Double(old.width) ?? -1, initial: old.initial)
                    if let bytes = old.blob(\.bytes) { new.setBlob(bytes, for: \.bytes) }
                    try output.insert(new)
                }),
            .mapped(
                fromVersion: Album4.self, toVersion: Album5.self,
                MappingModel(
                    EntityMapping(
                        from: "Photo", to: "Photo",
                        attributes: [
                            PropertyMapping("title", .source("name")), PropertyMapping("picture", .source("bytes")),
                        ]))),
        ]
    }
}

/// Stores with photos, which are opened under the first version or the last.
struct Albums {
    let stores: Stores
    let count: Int
    private static let byteCount = 5_000

    init(_ stores: Stores = Stores(), count: Int = 30) throws {
        self.stores = stores
        self.count = count
        try stores.use(Album1.self) { _, context in
            for number in 0..<count {
                let photo = Album1.Photo(name: "p\(number)", width: "\(number).5")
                if number % 3 == 0 { photo.bytes = Self.bytes(number) }
                context.insert(photo)
            }
            context.insert(Album1.Place(town: "Rome"))
            try context.save()
        }
    }

    static func bytes(_ number: Int) -> Data {
        Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ number) })
    }

    /// The contents that the last version must have, one photo per line.
    var expected: [String] {
        (0..<count).map { "p\($0) \(Double($0) + 0.5) p \($0 % 3 == 0 ? Self.bytes($0).hashValue : 0)" }.sorted()
    }

    /// The contents that the last version has.
    func contents() throws -> [String] {
        try stores.use(Album5.self, AlbumPlan.self) { _, context in
            guard try context.all(Album1.Place.self).map(\.town) == ["Rome"] else { return ["no place"] }
            return try context.all(Album5.Photo.self)
                .map { "\($0.title) \($0.width) \($0.initial) \($0.picture?.hashValue ?? 0)" }.sorted()
        }
    }
}

/// A track's values: they include a case and a member that the next version lacks.
enum Track1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Track.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    enum Mood: String, Codable, CaseIterable { case calm, loud, sad }
    struct Spot: Codable, Hashable {
        var x: Int
        var old: Int
    }

    @Model final class Track {
        var name: String
        var mood: Mood
        var spot: Spot
        init(name: String, mood: Mood, spot: Spot) {
            self.name = name
            self.mood = mood
            self.spot = spot
        }
    }
}

enum Track2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Track.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    enum Mood: String, Codable, CaseIterable { case calm, loud, glad }
    struct Spot: Codable, Hashable {
        var x: Int
        var y: Int?
    }

    @Model final class Track {
        var name: String
        var mood: Mood
        var spot: Spot
        init(name: String, mood: Mood, spot: Spot) {
            self.name = name
            self.mood = mood
            self.spot = spot
        }
    }
}

/// An attribute declares an earlier name that no version has had.
enum Label2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Photo.self, Album1.Place.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Photo {
        var name: String
        var width: String
        @Attribute(originalName: "neverThere") var label: String = "none"
        @Attribute(.externalStorage) var bytes: Data?
        init(name: String, width: String) {
            self.name = name
            self.width = width
        }
    }
}
