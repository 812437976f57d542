import Faultline
internal import Foundation
package import PhotoAPI

extension StoreLibrary {
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
