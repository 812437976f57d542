import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import PhotoAPI
import PhotoService
import Testing

@Suite struct RouteTests {
    @Test func `users are found by identifier and by e-mail address, and have one address each`() async throws {
        try await withLibrary { client in
            let new = NewUser(email: "ada@example.org", givenName: "Ada", familyName: "King")
            let user = try await client.send(.post, "/users", new, expecting: .created, as: UserBody.self)
            #expect(try await client.send(.get, "/users/\(user.id)") == user)
            #expect(try await client.send(.get, "/users?email=ada@example.org") == user)
            #expect(try await client.status(.post, "/users", new) == .conflict)
            #expect(try await client.status(.get, "/users?email=eve@example.org") == .notFound)
            #expect(try await client.status(.get, "/users") == .badRequest)
            let bad = NewUser(email: "ada", givenName: "", familyName: "")
            #expect(try await client.status(.post, "/users", bad) == .badRequest)
        }
    }

    @Test func `a photo is shown with its tags, in its album and in the list`() async throws {
        try await withLibrary { client in
            let album = try await client.addAlbum("Sea")
            let photo = try await client.add(1, to: album.id, tags: ["sea", "blue", "sea"])
            #expect(photo.tags == ["blue", "sea"])
            _ = try await client.add(2, to: album.id, tags: ["sea"])
            #expect(try await client.send(.get, "/photos/\(photo.id)") == photo)
            for address in ["/photos", "/albums/\(album.id)/photos"] {
                let page = try await client.send(.get, address, as: PageBody<PhotoBody>.self)
                #expect(page.items.map(\.title) == ["photo 2", "photo 1"] && page.next == nil)
            }
        }
    }

    @Test func `pages go on after a photo that was deleted meanwhile`() async throws {
        try await withLibrary { client in
            let album = try await client.addAlbum("Sea")
            let second = try await client.addAlbum("Land", email: "eve@example.org")
            for number in 0..<10 { _ = try await client.add(number, to: number == 6 ? second.id : album.id) }
            let first = try await client.send(.get, "/photos?limit=4", as: PageBody<PhotoBody>.self)
            #expect(first.items.map(\.title) == [9, 8, 7, 6].map { "photo \($0)" })
            #expect(try await client.status(.delete, "/albums/\(second.id)") == .noContent)
            let next = try #require(first.next).addingPercentEncoding(withAllowedCharacters: .alphanumerics)
            let page = try await client.send(
                .get, "/photos?limit=4&after=\(try #require(next))", as: PageBody<PhotoBody>.self)
            #expect(page.items.map(\.title) == [5, 4, 3, 2].map { "photo \($0)" })
        }
    }

    @Test func `search, feed and cameras`() async throws {
        try await withLibrary { client in
            let album = try await client.addAlbum("Sea")
            var photos: [PhotoBody] = []
            for number in 0..<6 { photos.append(try await client.add(number, to: album.id)) }
            let found = try await client.send(.get, "/search?q=beach", as: PageBody<PhotoBody>.self)
            #expect(Set(found.items.map(\.title)) == ["photo 0", "photo 2", "photo 4"])
            let author = try #require(album.owner)
            for text in ["first", "second"] {
                _ = try await client.send(
                    .post, "/photos/\(photos[5].id)/comments", NewComment(author: author, text: text),
                    expecting: .created, as: CommentBody.self)
            }
            let comments = try await client.send(
                .get, "/photos/\(photos[5].id)/comments", as: PageBody<CommentBody>.self)
            #expect(comments.items.count == 2 && comments.items.allSatisfy { $0.author == author })
            let feed = try await client.send(.get, "/feed?limit=2", as: PageBody<FeedEntry>.self)
            #expect(feed.items.map(\.photo.title) == ["photo 5", "photo 4"])
            #expect(feed.items.map(\.commentCount) == [2, 0] && feed.items[0].owner == "Ada King")
            let cameras = try await client.send(.get, "/cameras", as: PageBody<CameraBody>.self)
            #expect(cameras.items.map(\.photoCount) == [2, 2, 2])
            #expect(cameras.items.last?.newest == photos[5].takenAt)
        }
    }

    @Test func `pixels are stored and sent in parts, and replaced`() async throws {
        try await withLibrary { client in
            let album = try await client.addAlbum("Sea")
            let photo = try await client.add(1, to: album.id)
            let address = "/photos/\(photo.id)/pixels"
            #expect(try await client.execute(uri: address, method: .get).body.readableBytes == 0)
            for byteCount in [1_000_000, 600_000] {
                let pixels = ByteBuffer(bytes: (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) })
                #expect(try await client.execute(uri: address, method: .put, body: pixels).status == .noContent)
                #expect(try await client.execute(uri: address, method: .get).body == pixels)
            }
            #expect(try await client.send(.get, "/photos/\(photo.id)", as: PhotoBody.self).byteCount == 600_000)
        }
    }

    @Test func `pixels beyond the limit are refused, and the photo keeps its own`() async throws {
        try await withLibrary(limits: { $0.pixelByteCount = 300_000 }) { client in
            let album = try await client.addAlbum("Sea")
            let photo = try await client.add(1, to: album.id)
            let address = "/photos/\(photo.id)/pixels"
            for (byteCount, status) in [(300_000, HTTPResponse.Status.noContent), (300_001, .contentTooLarge)] {
                let pixels = ByteBuffer(repeating: 7, count: byteCount)
                #expect(try await client.execute(uri: address, method: .put, body: pixels).status == status)
            }
            #expect(try await client.execute(uri: address, method: .get).body.readableBytes == 300_000)
            #expect(try await client.execute(uri: "/photos/999/pixels", method: .put).status == .notFound)
        }
    }

    @Test func `deleting an album deletes its photos, their pixels and comments`() async throws {
        try await withLibrary { client in
            let album = try await client.addAlbum("Sea")
            let photo = try await client.add(1, to: album.id)
            let pixels = ByteBuffer(bytes: [UInt8](repeating: 7, count: 300_000))
            _ = try await client.execute(uri: "/photos/\(photo.id)/pixels", method: .put, body: pixels)
            #expect(try await client.status(.delete, "/albums/\(album.id)") == .noContent)
            #expect(try await client.status(.delete, "/albums/\(album.id)") == .notFound)
            for address in ["/albums/\(album.id)", "/photos/\(photo.id)", "/photos/\(photo.id)/pixels"] {
                #expect(try await client.status(.get, address) == .notFound)
            }
        }
    }

    @Test(arguments: [
        "18446744073709551616", "18446744073709551615", "-1", "+1", "01", "%00", "~", "0", "9", "Photo~1",
    ])
    func `identifiers that lead to nothing are not found`(_ id: String) async throws {
        try await withLibrary { client in
            var statuses: [HTTPResponse.Status] = []
            for address in ["/users/\(id)", "/albums/\(id)", "/photos/\(id)", "/photos/\(id)/pixels"] {
                statuses.append(try await client.status(.get, address))
            }
            statuses.append(try await client.status(.get, "/albums/\(id)/photos"))
            statuses.append(try await client.status(.post, "/albums", NewAlbum(owner: id, title: "")))
            #expect(statuses.allSatisfy { $0 == .notFound })
        }
    }

    @Test(arguments: ["limit=0", "limit=201", "limit=x", "after=x", "after=e30="])
    func `pages that cannot be understood are refused`(_ query: String) async throws {
        try await withLibrary { client in
            let status = try await client.status(.get, "/photos?\(query)")
            #expect(status == .badRequest)
        }
    }
}
