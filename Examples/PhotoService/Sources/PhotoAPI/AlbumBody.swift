import Hummingbird

/// An album that is to be added.
package struct NewAlbum: Codable, Sendable {
    package var owner: String
    package var title: String

    package init(owner: String, title: String) {
        self.owner = owner
        self.title = title
    }
}

/// An album.
package struct AlbumBody: ResponseCodable, Sendable, Equatable {
    package var id: String
    package var owner: String?
    package var title: String

    package init(id: String, owner: String?, title: String) {
        self.id = id
        self.owner = owner
        self.title = title
    }
}
