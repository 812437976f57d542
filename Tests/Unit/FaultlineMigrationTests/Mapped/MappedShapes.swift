import Faultline
import Foundation

/// Albums with ordered songs and tags, all of which are renamed.
enum Music1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Album.self, Song.self, Tag.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Album {
        var title: String
        var cover: Data?
        @Relationship(deleteRule: .cascade, inverse: \Song.album) var songs: [Song] = []
        @Relationship(inverse: \Tag.albums) var tags: [Tag] = []
        init(title: String) { self.title = title }
    }

    @Model final class Song {
        var name: String
        var seconds: Int
        var album: Album?
        init(name: String, seconds: Int) {
            self.name = name
            self.seconds = seconds
        }
    }

    @Model final class Tag {
        var word: String
        var albums: [Album] = []
        init(word: String) { self.word = word }
    }
}

enum Music2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Record.self, Song.self, Tag.self, Cover.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Record {
        var title: String
        var minutes: Double
        @Relationship(deleteRule: .cascade, inverse: \Song.record) var songs: [Song] = []
        @Relationship(inverse: \Tag.albums) var tags: [Tag] = []
        var cover: Cover?
        init(title: String, minutes: Double) {
            self.title = title
            self.minutes = minutes
        }
    }

    @Model final class Song {
        var name: String
        var seconds: Int
        var record: Record
        init(name: String, seconds: Int, record: Record) {
            self.name = name
            self.seconds = seconds
            self.record = record
        }
    }

    @Model final class Tag {
        @Attribute(.unique) var word: String
        var albums: [Record] = []
        init(word: String) { self.word = word }
    }

    @Model final class Cover {
        @Attribute(.externalStorage) var bytes: Data
        var caption: String
        @Relationship(inverse: \Record.cover) var record: Record?
        init(bytes: Data, caption: String) {
            self.bytes = bytes
            self.caption = caption
        }
    }
}

/// A plan whose mappings a test chooses.
enum MusicPlan: SchemaMigrationPlan {
    @TaskLocal static var model = MusicPlan.whole

    static var schemas: [any VersionedSchema.Type] { [Music1.self, Music2.self] }
    static var stages: [MigrationStage] { [.mapped(fromVersion: Music1.self, toVersion: Music2.self, model)] }

    static var album: EntityMapping {
        EntityMapping(
            from: "Album", to: "Record",
            attributes: [
                PropertyMapping(
                    "minutes",
                    .computed { album, _ in
                        (album.value(forKeyPath: "songs.@sum.seconds") as? Int).map { Double($0) / 60 }
                    })
            ],
            relationships: [PropertyMapping("cover", .counterparts(by: "covers"))])
    }
    static var song: EntityMapping {
        EntityMapping(from: "Song", to: "Song", relationships: [PropertyMapping("record", .destinations(of: "album"))])
    }
    static var tag: EntityMapping { EntityMapping(from: "Tag", to: "Tag") }
    static var cover: EntityMapping {
        EntityMapping(
            from: "Album", to: "Cover", name: "covers",
            attributes: [PropertyMapping("bytes", .source("cover")), PropertyMapping("caption", .constant("front"))],
            where: Filter.key("cover") != nil)
    }
    static var whole: MappingModel { MappingModel(album, song, tag, cover) }
}

/// A store with six albums, half of them with a cover, and 24 songs.
enum MusicStore {
    static let cover = Data(repeating: 9, count: 7_000)

    static func make(in stores: Stores, _ alter: (ModelContext) throws -> Void = { _ in }) throws {
        try stores.use(Music1.self) { _, context in
            let tags = ["new", "old", "loud"].map { Music1.Tag(word: $0) }
            tags.forEach { context.insert($0) }
            for number in 0..<6 {
                let album = Music1.Album(title: "a\(number)")
                context.insert(album)
                album.songs = (0..<4).map { Music1.Song(name: "s\($0)", seconds: 30 * number) }
                if number % 2 == 0 { album.cover = cover }
            }
            try context.save()
            for album in try context.all(Music1.Album.self) {
                album.songs = album.songs.reversed()
                album.tags = album.title == "a3" ? [] : [tags[2], tags[0]]
            }
            try alter(context)
            try context.save()
        }
    }
}
