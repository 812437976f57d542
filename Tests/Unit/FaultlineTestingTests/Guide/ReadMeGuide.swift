import Faultline
import Testing

/// The code of README.
@Suite struct ReadMeGuide {
    private typealias Album = FirstRelease.Album
    private typealias Photo = FirstRelease.Photo
    private let place = GuidePlace()

    // swift-format-ignore
    private func URL(filePath path: String) -> Foundation.URL { place.url(path) }

    @Test func `README: saved and fetched`() throws {
        // snippet
        let configuration = ModelConfiguration(url: URL(filePath: "/var/lib/photos.store"))
        let container = try ModelContainer(for: Album.self, configurations: configuration)
        let context = ModelContext(container)
        let album = Album(title: "Summer")
        context.insert(album)
        album.photos.append(Photo(name: "beach", taken: .now, pixels: Data(count: 1 << 20)))
        try context.save()  // one transaction, on the disk when it returns

        let byName = FetchDescriptor<Photo>(sortBy: [SortDescriptor(\.name)])
        let names = try context.fetch(byName).map(\.name)
        print(names, context.counters)  // no pixel was read
        // end
        #expect(names == ["beach"] && context.counters.blobBytesRead == 0)
    }

    @Test func `README: opened without classes`() throws {
        try `README: saved and fetched`()
        let configuration = ModelConfiguration(url: URL(filePath: "/var/lib/photos.store"))
        // snippet
        let container = try ModelContainer(opening: configuration)
        let context = ModelContext(container)
        let onBeaches = Filter.key("album.title") == "Summer" && Filter.key("name").beginsWith("beach")
        for photo in try context.fetch(FetchRequest(entityName: "Photo", filter: onBeaches)) {
            print(photo["name"] ?? "", photo.blob(forKey: "pixels")?.byteCount ?? 0)
        }
        // end
        #expect(try context.count(for: FetchRequest(entityName: "Photo", filter: onBeaches)) == 1)
    }
}
