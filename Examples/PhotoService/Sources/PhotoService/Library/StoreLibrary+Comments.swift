import Faultline
package import Foundation
package import PhotoAPI

extension StoreLibrary {
    package func setPixels(_ bytes: Data, of photo: String) async throws -> Bool {
        try await change { context in
            guard let photo = try context.object(photo, as: Photo.self) else { return false }
            let pixels = photo.pixels ?? Pixels()
            pixels.bytes = bytes
            photo.pixels = pixels
            photo.byteCount = bytes.count
            try await context.save()
            return true
        }
    }

    package func pixels(of photo: String, in range: Range<Int>) async throws -> Data? {
        try await perform { context in
            guard let photo = try context.object(photo, as: Photo.self) else { return nil }
            guard let blob = photo.pixels?.blob(\.bytes) else { return Data() }
            return try blob.data(in: range.clamped(to: 0..<blob.byteCount))
        }
    }

    package func addComment(_ comment: NewComment, to photo: String) async throws -> CommentBody {
        try await change { context in
            let added = Comment(text: comment.text, writtenAt: Date())
            added.photo = try context.required(photo, as: Photo.self)
            added.author = try context.required(comment.author, as: User.self)
            context.insert(added)
            try await context.save()
            return CommentBody(added)
        }
    }

    package func comments(of photo: String, limit: Int) async throws -> [CommentBody] {
        try await perform { context in
            let id = try context.required(photo, as: Photo.self).persistentModelID
            var newest = FetchDescriptor<Comment>(
                predicate: #Predicate { $0.photo?.persistentModelID == id },
                sortBy: [SortDescriptor(\.writtenAt, order: .reverse)])
            newest.fetchLimit = limit
            return try context.fetch(newest).map(CommentBody.init)
        }
    }
}

extension CommentBody {
    init(_ comment: Comment) {
        self.init(
            id: comment.key, author: comment.author?.key,
            text: comment.text, writtenAt: comment.writtenAt)
    }
}
