import Faultline
import FaultlineDisk
import Foundation
import Synchronization

/// Four kinds of notes, one entity for each.
enum Notes1: VersionedSchema {
    static var models: [any PersistentModel.Type] {
        [Folder.self, TextNote.self, PhotoNote.self, LinkNote.self, ListNote.self]
    }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Folder {
        @Attribute(.unique) var name: String
        @Relationship(deleteRule: .cascade, inverse: \TextNote.folder) var texts: [TextNote] = []
        @Relationship(deleteRule: .cascade, inverse: \PhotoNote.folder) var photos: [PhotoNote] = []
        @Relationship(deleteRule: .cascade, inverse: \LinkNote.folder) var links: [LinkNote] = []
        @Relationship(deleteRule: .cascade, inverse: \ListNote.folder) var lists: [ListNote] = []
        init(name: String) { self.name = name }
    }

    @Model final class TextNote {
        var text: String
        var created: Date
        var folder: Folder?
        init(text: String, created: Date) {
            self.text = text
            self.created = created
        }
    }

    @Model final class PhotoNote {
        var caption: String
        var photo: Data
        var created: Date
        var folder: Folder?
        init(caption: String, photo: Data, created: Date) {
            self.caption = caption
            self.photo = photo
            self.created = created
        }
    }

    @Model final class LinkNote {
        var address: String
        var created: Date
        var folder: Folder?
        init(address: String, created: Date) {
            self.address = address
            self.created = created
        }
    }

    @Model final class ListNote {
        var items: [String]
        var created: Date
        var folder: Folder?
        init(items: [String], created: Date) {
            self.items = items
            self.created = created
        }
    }
}

/// One entity of notes, with the properties that belong to only one kind as optional ones.
enum Notes2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Folder.self, Note.self, Photo.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    enum Kind: String, Codable {
        case text, photo, link, list
    }

    @Model final class Folder {
        @Attribute(.unique) var name: String
        @Relationship(deleteRule: .cascade, inverse: \Note.folder) var notes: [Note] = []
        init(name: String) { self.name = name }
    }

    @Model final class Note {
        var kind: Kind
        var text: String
        var created: Date
        var folder: Folder?
        @Relationship(deleteRule: .cascade, inverse: \Photo.note) var photo: Photo?
        init(_ kind: Kind, text: String, created: Date) {
            self.kind = kind
            self.text = text
            self.created = created
        }
    }

    @Model final class Photo {
        @Attribute(.externalStorage) var bytes: Data
        var note: Note?
        init(bytes: Data) { self.bytes = bytes }
    }
}

/// Carries the notes over as is common with SwiftData: read before, kept in a variable, and written after.
enum StagedNotes: SchemaMigrationPlan {
    final class Carrier: Sendable {
        struct Carried: Sendable {
            let note: (kind: Notes2.Kind, text: String, created: Date)
            let photo: Data?
            let folder: String?
        }
        let notes = Guarded<[Carried]>([])

        func add(_ kind: Notes2.Kind, _ text: String, _ created: Date, photo: Data? = nil, in folder: String?) {
            notes.withLock { $0.append(Carried(note: (kind, text, created), photo: photo, folder: folder)) }
        }
    }
    @TaskLocal static var carrier = Carrier()

    static var schemas: [any VersionedSchema.Type] { [Notes1.self, Notes2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: Notes1.self, toVersion: Notes2.self,
                willMigrate: { context in
                    let carrier = Self.carrier
                    for old in try context.all(Notes1.TextNote.self) {
                        carrier.add(.text, old.text, old.created, in: old.folder?.name)
                    }
                    for old in try context.all(Notes1.PhotoNote.self) {
                        carrier.add(.photo, old.caption, old.created, photo: old.photo, in: old.folder?.name)
                    }
                    for old in try context.all(Notes1.LinkNote.self) {
                        carrier.add(.link, old.address, old.created, in: old.folder?.name)
                    }
                    for old in try context.all(Notes1.ListNote.self) {
                        carrier.add(.list, old.items.joined(separator: "\n"), old.created, in: old.folder?.name)
                    }
                },
                didMigrate: { context in
                    let folders = Dictionary(
                        uniqueKeysWithValues: try context.all(Notes2.Folder.self).map { ($0.name, $0) })
                    for carried in carrier.notes.withLock({ $0 }) {
                        let note = Notes2.Note(
                            carried.note.kind, text: carried.note.text, created: carried.note.created)
                        context.insert(note)
                        note.folder = carried.folder.flatMap { folders[$0] }
                        note.photo = carried.photo.map { Notes2.Photo(bytes: $0) }
                    }
                    try context.save()
                })
        ]
    }
}

/// The same migration one object at a time, without keeping any.
enum StreamedNotes: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Notes1.self, Notes2.self] }
    static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: Notes1.self, toVersion: Notes2.self,
                StreamedEntity(Notes1.TextNote.self) { old, output in
                    let note = Notes2.Note(.text, text: old.text, created: old.created)
                    note.folder = try output.object(migratedFrom: old.folder)
                    try output.insert(note)
                },
                StreamedEntity(Notes1.PhotoNote.self) { old, output in
                    let note = Notes2.Note(.photo, text: old.caption, created: old.created)
                    note.folder = try output.object(migratedFrom: old.folder)
                    if let blob = old.blob(\.photo) {
                        let photo = Notes2.Photo(bytes: Data())
                        photo.setBlob(blob, for: \.bytes)
                        note.photo = photo
                    }
                    try output.insert(note)
                },
                StreamedEntity(Notes1.LinkNote.self) { old, output in
                    let note = Notes2.Note(.link, text: old.address, created: old.created)
                    note.folder = try output.object(migratedFrom: old.folder)
                    try output.insert(note)
                },
                StreamedEntity(Notes1.ListNote.self) { old, output in
                    let note = Notes2.Note(.list, text: old.items.joined(separator: "\n"), created: old.created)
                    note.folder = try output.object(migratedFrom: old.folder)
                    try output.insert(note)
                })
        ]
    }
}
