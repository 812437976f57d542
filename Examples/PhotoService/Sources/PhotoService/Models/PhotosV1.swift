package import Faultline
import Foundation

/// The first release: a user has one name, and a photo contains its pixels.
package enum PhotosV1: VersionedSchema {
    package static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    package static var models: [any PersistentModel.Type] {
        [User.self, Album.self, Photo.self, Tag.self, Comment.self]
    }

    @Model package final class User {
        @Attribute(.unique) package var email: String
        package var name: String
        @Relationship(deleteRule: .cascade, inverse: \Album.owner) package var albums: [Album] = []
        @Relationship(deleteRule: .nullify, inverse: \Comment.author) package var comments: [Comment] = []

        package init(email: String, name: String) {
            self.email = email
            self.name = name
        }
    }

    @Model package final class Album {
        package var title: String
        package var owner: User?
        @Relationship(deleteRule: .cascade, inverse: \Photo.album) package var photos: [Photo] = []

        package init(title: String) { self.title = title }
    }

    @Model package final class Photo {
        #Index<Photo>([\.takenAt], [\.album, \.takenAt])

        package var title: String
        package var caption: String
        package var camera: String
        package var takenAt: Date
        package var byteCount: Int = 0
        @Attribute(.externalStorage) package var pixels: Data?
        package var album: Album?
        @Relationship(inverse: \Tag.photos) package var tags: [Tag] = []
        @Relationship(deleteRule: .cascade, inverse: \Comment.photo) package var comments: [Comment] = []

        package init(title: String, caption: String, camera: String, takenAt: Date) {
            self.title = title
            self.caption = caption
            self.camera = camera
            self.takenAt = takenAt
        }
    }

    @Model package final class Tag {
        @Attribute(.unique) package var name: String
        package var photos: [Photo] = []

        package init(name: String) { self.name = name }
    }

    @Model package final class Comment {
        package var text: String
        package var writtenAt: Date
        package var author: User?
        package var photo: Photo?

        package init(text: String, writtenAt: Date) {
            self.text = text
            self.writtenAt = writtenAt
        }
    }
}
