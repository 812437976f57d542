import Faultline
import Testing

/// The code of Getting started: regions between `snippet` and `end` are those of the article, word for word.
enum FirstRelease {
    // snippet
    @Model final class Album {
        @Attribute(.unique) var title: String
        @Relationship(deleteRule: .cascade, inverse: \Photo.album) var photos: [Photo] = []
        init(title: String) { self.title = title }
    }

    @Model final class Photo {
        var name: String
        var taken: Date
        var pixels: Data  // large: kept out of the row
        var album: Album?
        init(name: String, taken: Date, pixels: Data) {
            self.name = name
            self.taken = taken
            self.pixels = pixels
        }
    }
    // end
}

enum SecondRelease {
    // snippet
    @Model final class Album {
        @Attribute(.unique) var title: String
        @Relationship(deleteRule: .cascade, inverse: \Photo.album) var photos: [Photo] = []
        init(title: String) { self.title = title }
    }

    @Model final class Photo {
        @Attribute(originalName: "name") var title: String
        var stars: Int = 3
        var taken: Date
        var pixels: Data
        var album: Album?
        init(title: String, taken: Date, pixels: Data) {
            self.title = title
            self.taken = taken
            self.pixels = pixels
        }
    }
    // end
}

@Suite struct GettingStartedGuide {
    private let place = GuidePlace()

    // swift-format-ignore
    private func URL(filePath path: String) -> Foundation.URL { place.url(path) }

    private func runFirstRelease() throws -> FaultCounters {
        typealias Album = FirstRelease.Album
        typealias Photo = FirstRelease.Photo
        // snippet
        let configuration = ModelConfiguration(url: URL(filePath: "photos.store"))
        let container = try ModelContainer(for: Album.self, configurations: configuration)
        let context = ModelContext(container)

        let summer = FetchDescriptor<Album>(predicate: #Predicate { $0.title == "Summer" })
        let album = try context.fetch(summer).first ?? Album(title: "Summer")
        context.insert(album)
        album.photos.append(Photo(name: "beach", taken: .now, pixels: Data(count: 1 << 20)))
        try context.save()  // one transaction, on the disk when it returns

        let reader = ModelContext(container)
        let byName = FetchDescriptor<Photo>(sortBy: [SortDescriptor(\.name)])
        for photo in try reader.fetch(byName) { print(photo.name, photo.album?.title ?? "") }
        print(reader.counters)  // rows were read, and no byte of the pixels
        // end
        #expect(album.photos.count == 1)
        return reader.counters
    }

    private func runSecondRelease() throws -> [String] {
        typealias Album = SecondRelease.Album
        typealias Photo = SecondRelease.Photo
        // snippet
        let configuration = ModelConfiguration(url: URL(filePath: "photos.store"))
        let container = try ModelContainer(for: Album.self, configurations: configuration)
        print(container.migrationReport.text)
        let context = ModelContext(container)

        let best = FetchDescriptor<Photo>(predicate: #Predicate { $0.stars >= 3 })
        for photo in try context.fetch(best) { print(photo.title, photo.stars) }
        // end
        #expect(!container.migrationReport.versions.isEmpty)
        return try context.fetch(best).map(\.title)
    }

    @Test func `Getting started: saved, fetched, migrated`() throws {
        let counters = try runFirstRelease()
        #expect(counters.rowsRead > 0 && counters.blobBytesRead == 0)
        #expect(try runSecondRelease() == ["beach"])
    }
}
