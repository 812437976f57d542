package import Foundation
import Hummingbird

/// A photo that is to be added; its pixels are uploaded afterwards.
package struct NewPhoto: Codable, Sendable {
    package var album: String
    package var title: String
    package var caption: String
    package var camera: String
    package var takenAt: Date
    package var tags: [String]

    package init(album: String, title: String, caption: String, camera: String, takenAt: Date, tags: [String]) {
        self.album = album
        self.title = title
        self.caption = caption
        self.camera = camera
        self.takenAt = takenAt
        self.tags = tags
    }
}

/// A photo with the names of its tags.
package struct PhotoBody: ResponseCodable, Sendable, Equatable {
    package var id: String
    package var album: String?
    package var title: String
    package var caption: String
    package var camera: String
    package var takenAt: Date
    /// The size of its pixels; 0 until they are uploaded.
    package var byteCount: Int
    /// The names of its tags, in their order; nil in lists.
    package var tags: [String]?

    package init(
        id: String, album: String?, title: String, caption: String, camera: String, takenAt: Date, byteCount: Int
    ) {
        (self.id, self.album, self.title, self.caption) = (id, album, title, caption)
        (self.camera, self.takenAt, self.byteCount) = (camera, takenAt, byteCount)
    }
}
