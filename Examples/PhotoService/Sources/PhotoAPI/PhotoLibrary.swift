import Foundation

/// Users, albums, photos, tags and comments: the store of the routes.
///
/// Identifiers come from clients. One that leads to nothing is no error of the library: it gives nil, or throws
/// `LibraryError.missing` where something was to be added.
package protocol PhotoLibrary: Sendable {
    /// Whether requests can be served, and why not.
    func health() async -> LibraryHealth

    func addUser(_ user: NewUser) async throws -> UserBody
    func user(_ id: String) async throws -> UserBody?
    func user(email: String) async throws -> UserBody?

    func addAlbum(_ album: NewAlbum) async throws -> AlbumBody
    func album(_ id: String) async throws -> AlbumBody?
    /// Deletes an album with its photos and their comments; false if there is none.
    func deleteAlbum(_ id: String) async throws -> Bool

    func addPhoto(_ photo: NewPhoto) async throws -> PhotoBody
    func photo(_ id: String) async throws -> PhotoBody?
    /// Photos of all albums, or of one, the newest first.
    func photos(ofAlbum album: String?, after position: String?, limit: Int) async throws -> PageBody<PhotoBody>
    /// Photos whose caption contains a text.
    func search(_ text: String, limit: Int) async throws -> [PhotoBody]
    func feed(limit: Int) async throws -> [FeedEntry]
    func cameras() async throws -> [CameraBody]

    /// Stores the pixels of a photo; false if there is no such photo.
    func setPixels(_ parts: PixelParts, of photo: String) async throws -> Bool
    /// The pixels of a photo; nil if there is no such photo.
    func pixels(of photo: String) async throws -> PixelBody?

    func addComment(_ comment: NewComment, to photo: String) async throws -> CommentBody
    func comments(of photo: String, limit: Int) async throws -> [CommentBody]
}

/// Whether a library serves requests.
package struct LibraryHealth: Codable, Sendable {
    /// Whether requests can be served.
    package var isReady: Bool
    /// A word for the state, such as `ready` or `migrating`.
    package var status: String
    /// The problem, or the progress of a migration.
    package var details: String

    package init(isReady: Bool, status: String, details: String = "") {
        self.isReady = isReady
        self.status = status
        self.details = details
    }
}
