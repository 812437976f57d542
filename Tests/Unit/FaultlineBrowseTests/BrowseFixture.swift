import Dispatch
import Faultline
import FaultlineBrowse
import FaultlineTestSupport
import Foundation

@Model final class Shelf {
    @Attribute(.unique) var name: String
    var room: String?
    @Relationship(deleteRule: .cascade, inverse: \Volume.shelf) var volumes: [Volume] = []
    init(name: String, room: String? = nil) {
        self.name = name
        self.room = room
    }
}

@Model final class Volume {
    #Index<Volume>([\.title])
    var title: String
    var pages: Int
    var price: Decimal
    var printed: Date
    var isLent: Bool
    var cover: Data?
    var text: String?
    var shelf: Shelf?
    @Relationship(inverse: \Topic.volumes) var topics: [Topic] = []
    init(title: String, pages: Int, shelf: Shelf?) {
        self.title = title
        self.pages = pages
        self.price = Decimal(pages) / 10
        self.printed = Date(timeIntervalSince1970: Double(pages) * 86_400)
        self.isLent = pages % 3 == 0
        self.shelf = shelf
    }
}

@Model final class Topic {
    var name: String
    var volumes: [Volume] = []
    init(name: String) { self.name = name }
}

/// A store of shelves with volumes, and its pages.
struct BrowseFixture {
    static let base = "/token/"
    /// A picture of one red dot.
    static let picture =
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
        ?? Data()

    let folder = TemporaryDirectory()
    let writer: ModelContainer
    let site: BrowseSite

    init(volumeCount: Int = 130) throws {
        let path = folder.path + "/store"
        let configuration = ModelConfiguration(url: URL(filePath: path))
        writer = try ModelContainer(
            for: Schema([Shelf.self, Volume.self, Topic.self]), configurations: [configuration])
        let context = ModelContext(writer)
        context.author = "<librarian>"
        let topics = (0..<3).map { Topic(name: "topic \($0)") }
        topics.forEach(context.insert)
        let shelf = Shelf(name: "<b>North & \"South\"</b>", room: "east")
        context.insert(shelf)
        for number in 0..<volumeCount {
            let volume = Volume(title: "volume \(number)", pages: number, shelf: number % 2 == 0 ? shelf : nil)
            context.insert(volume)
            volume.topics = [topics[number % 3]]
        }
        try context.save()
        let second = ModelContext(writer)
        let first = try second.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.pages)])).prefix(3)
        for (place, volume) in first.enumerated() {
            volume.cover = place == 0 ? Self.picture : Self.picture + Data(count: 10_000 * place)
            volume.text = String(repeating: "long ", count: place * 2_000)
        }
        try second.save()
        // Another process sees the last save once it is known to be on the disk.
        try writer.checkpoint()
        site = try Self.site(of: path)
    }

    /// The pages of a store; each waits for its list, on a busy machine too.
    static func site(of path: String, patience: DispatchTimeInterval = .seconds(600)) throws -> BrowseSite {
        let reader = try ModelContainer(
            opening: ModelConfiguration(url: URL(filePath: path), allowsSave: false))
        return BrowseSite(reader, store: path, base: base, patience: patience) { "well" }
    }

    /// The answer to a path with its query.
    func answer(_ target: String, range: String? = nil) -> PageAnswer? {
        PageRequest(target: target, range: range).map(site.answer)
    }

    /// The text of a page.
    func text(_ target: String) -> String { answer(target)?.text ?? "" }
}
