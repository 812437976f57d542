import Faultline
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import PhotoAPI
import PhotoService
import Testing

@Suite struct MigrationTests {
    /// A store of the first release: ten users with a photo and a comment each.
    private func makeFirstRelease(in folder: TemporaryFolder) throws {
        let container = try ModelContainer(
            for: Schema(versionedSchema: PhotosV1.self), configurations: folder.configuration)
        let context = ModelContext(container)
        for number in 0..<10 {
            let user = PhotosV1.User(email: "user\(number)@example.org", name: "Ada Mary No\(number)")
            let album = PhotosV1.Album(title: "album \(number)")
            album.owner = user
            let photo = PhotosV1.Photo(
                title: "photo \(number)", caption: "", camera: "box",
                takenAt: Date(timeIntervalSince1970: Double(number)))
            photo.pixels = Data(repeating: UInt8(number), count: 100_000)
            photo.byteCount = 100_000
            photo.album = album
            photo.tags = [PhotosV1.Tag(name: "tag \(number)")]
            let comment = PhotosV1.Comment(text: "fine", writtenAt: .now)
            comment.photo = photo
            comment.author = user
            context.insert(comment)
        }
        try context.save()
        try container.close()
    }

    @Test func `a store of the first release is migrated with all that belongs together`() async throws {
        let folder = try TemporaryFolder()
        try makeFirstRelease(in: folder)
        try await withLibrary(in: folder) { client in
            let user = try await client.send(.get, "/users?email=user7@example.org", as: UserBody.self)
            #expect(user.givenName == "Ada Mary" && user.familyName == "No7")
            let page = try await client.send(.get, "/photos", as: PageBody<PhotoBody>.self)
            #expect(page.items.map(\.title) == (0..<10).reversed().map { "photo \($0)" })
            let photo = try await client.send(.get, "/photos/\(page.items[2].id)", as: PhotoBody.self)
            #expect(photo.tags == ["tag 7"] && photo.byteCount == 100_000)
            let album = try await client.send(.get, "/albums/\(try #require(photo.album))", as: AlbumBody.self)
            #expect(album.owner == user.id)
            let pixels = try await client.execute(uri: "/photos/\(photo.id)/pixels", method: .get).body
            #expect(pixels.readableBytesView.elementsEqual(repeatElement(7, count: 100_000)))
            let comments = try await client.send(.get, "/photos/\(photo.id)/comments", as: PageBody<CommentBody>.self)
            #expect(comments.items.map(\.author) == [user.id])
        }
    }
}
