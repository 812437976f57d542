import Faultline
import Testing

/// The classes of README.
enum PhotoAlbums {
    // snippet
    @Model final class Album {
        @Attribute(.unique) var title: String
        @Relationship(deleteRule: .cascade, inverse: \Photo.album) var photos: [Photo] = []
        init(title: String) { self.title = title }
    }

    @Model final class Photo {
        var name: String
        var pixels: Data  // large: kept out of the row
        var album: Album?
        init(name: String, pixels: Data) {
            self.name = name
            self.pixels = pixels
        }
    }
    // end
}

/// The code of README.
@Suite struct ReadMeGuide {
    private typealias Album = PhotoAlbums.Album
    private typealias Photo = PhotoAlbums.Photo
    private let place = GuidePlace()

    // swift-format-ignore
    private func URL(filePath path: String) -> Foundation.URL { place.url(path) }

    @Test func `README: saved and fetched`() throws {
        // snippet
        let configuration = ModelConfiguration(url: URL(filePath: "/var/lib/photos.store"))
        let context = ModelContext(try ModelContainer(for: Album.self, configurations: configuration))
        let album = Album(title: "Summer")
        context.insert(album)
        album.photos.append(Photo(name: "beach", pixels: Data(count: 1 << 20)))
        try context.save()  // one transaction, on the disk when it returns
        let photos = try context.fetch(FetchDescriptor<Photo>(sortBy: [SortDescriptor(\.name)]))
        print(photos.map(\.name), context.counters)  // no pixel was read
        // end
        #expect(photos.map(\.name) == ["beach"] && context.counters.blobBytesRead == 0)
    }
}
