import Faultline
import Foundation
package import PhotoAPI

extension StoreLibrary {
    package func addPhoto(_ photo: NewPhoto) async throws -> PhotoBody {
        try await change { context in
            let added = Photo(
                title: photo.title, caption: photo.caption, camera: photo.camera, takenAt: photo.takenAt)
            added.album = try context.required(photo.album, as: Album.self)
            // A tag that another request adds meanwhile is the same one after the save: its name is unique.
            added.tags = try Set(photo.tags).sorted().map { name in
                try context.first(\Tag.name, equals: name) ?? Tag(name: name)
            }
            context.insert(added)
            try await context.save()
            return PhotoBody(added, tags: added.tags.map(\.name))
        }
    }

    package func photo(_ id: String) async throws -> PhotoBody? {
        try await perform { context in
            try context.object(id, as: Photo.self).map { PhotoBody($0, tags: $0.tags.map(\.name)) }
        }
    }

    package func photos(
        ofAlbum album: String?, after position: String?, limit: Int
    ) async throws -> PageBody<PhotoBody> {
        try await perform { context in
            var newest = FetchDescriptor<Photo>(sortBy: [SortDescriptor(\.takenAt, order: .reverse)])
            if let album {
                let id = try context.required(album, as: Album.self).persistentModelID
                newest.predicate = #Predicate { $0.album?.persistentModelID == id }
            }
            do {
                let page = try context.fetchPage(newest, after: position.map(Self.cursor), size: limit)
                let next = page.isLast ? nil : page.cursor
                return PageBody(items: page.objects.map { PhotoBody($0, tags: nil) }, next: next?.description)
            } catch SwiftDataError.unsupportedSortDescriptor {
                throw Self.noPosition
            }
        }
    }

    private static func cursor(_ position: String) throws -> FetchCursor {
        guard let cursor = FetchCursor(position) else { throw noPosition }
        return cursor
    }

    private static let noPosition = LibraryError.invalid("after is no position in this list.")

    package func search(_ text: String, limit: Int) async throws -> [PhotoBody] {
        try await perform { context in
            var found = FetchDescriptor<Photo>(predicate: #Predicate { $0.caption.contains(text) })
            found.fetchLimit = limit
            return try context.fetch(found).map { PhotoBody($0, tags: nil) }
        }
    }

    package func feed(limit: Int) async throws -> [FeedEntry] {
        try await perform { context in
            var newest = FetchDescriptor<Photo>(sortBy: [SortDescriptor(\.takenAt, order: .reverse)])
            newest.fetchLimit = limit
            newest.relationshipPathsForPrefetching = [[\Photo.album, \Album.owner], [\Photo.comments]]
            return try context.fetch(newest).map { photo in
                let comments = photo.comments
                return FeedEntry(
                    photo: PhotoBody(photo, tags: nil),
                    owner: photo.album?.owner.map { "\($0.givenName) \($0.familyName)" },
                    commentCount: comments.count,
                    newestComment: comments.max { $0.writtenAt < $1.writtenAt }?.text)
            }
        }
    }

    package func cameras() async throws -> [CameraBody] {
        try await perform { context in
            try context.fetchGroups(FetchDescriptor<Photo>(), by: \.camera, .count, .maximum(\.takenAt)).map { group in
                CameraBody(camera: group.key, photoCount: group.values.0, newest: group.values.1)
            }
        }
    }
}

extension PhotoBody {
    init(_ photo: Photo, tags: [String]?) {
        self.init(
            id: photo.key, album: photo.album?.key,
            title: photo.title, caption: photo.caption, camera: photo.camera, takenAt: photo.takenAt,
            byteCount: photo.byteCount)
        self.tags = tags?.sorted()
    }
}
