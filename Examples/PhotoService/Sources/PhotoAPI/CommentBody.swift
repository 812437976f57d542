package import Foundation
import Hummingbird

/// A comment that is to be added.
package struct NewComment: Codable, Sendable {
    package var author: String
    package var text: String

    package init(author: String, text: String) {
        self.author = author
        self.text = text
    }
}

/// A comment.
package struct CommentBody: ResponseCodable, Sendable, Equatable {
    package var id: String
    package var author: String?
    package var text: String
    package var writtenAt: Date

    package init(id: String, author: String?, text: String, writtenAt: Date) {
        self.id = id
        self.author = author
        self.text = text
        self.writtenAt = writtenAt
    }
}
