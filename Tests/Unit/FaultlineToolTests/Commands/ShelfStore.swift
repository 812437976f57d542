import Faultline
import FaultlineTestSupport
import FaultlineTool
import Testing

@Model final class Shelf {
    @Attribute(.unique) var label: String
    @Relationship(deleteRule: .cascade, inverse: \Volume.shelf) var volumes: [Volume] = []
    init(label: String) { self.label = label }
}

@Model final class Volume {
    var title: String
    var pages: Data
    var shelf: Shelf?
    init(title: String, pages: Data, shelf: Shelf) {
        self.title = title
        self.pages = pages
        self.shelf = shelf
    }
}

/// A store of ten shelves with three volumes each, and 100,000 bytes in each volume.
struct ShelfStore {
    let folder: TemporaryDirectory
    var path: String { folder.path + "/old" }

    init() throws {
        folder = TemporaryDirectory()
        let container = try Self.container(folder.path + "/old")
        let context = ModelContext(container)
        for number in 0..<10 {
            let shelf = Shelf(label: "shelf-number-\(number)")
            context.insert(shelf)
            for place in 0..<3 {
                context.insert(
                    Volume(title: "volume-\(number)-\(place)", pages: Self.pages(number, place), shelf: shelf))
            }
        }
        try context.save()
        try container.close()
    }

    static func container(_ path: String) throws -> ModelContainer {
        // The byte counts that tests expect are those of the objects alone.
        var configuration = ModelConfiguration(url: URL(filePath: path))
        configuration.options.history = .off
        return try ModelContainer(for: Shelf.self, Volume.self, configurations: configuration)
    }

    /// Incompressible bytes, so that the file contains them unchanged.
    static func pages(_ number: Int, _ place: Int) -> Data {
        var state = UInt64(number * 3 + place + 1)
        return Data(
            (0..<100_000).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 56)
            })
    }

    /// Changes the byte in the middle of these bytes, which occur once in the files of a kind.
    func rot(_ bytes: Data, inFilesOf letter: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasPrefix(letter) {
            let url = URL(filePath: path + "/" + name)
            var content = try Data(contentsOf: url)
            guard let range = content.range(of: bytes) else { continue }
            content[range.lowerBound + bytes.count / 2] ^= 4
            return try content.write(to: url)
        }
        Issue.record("no file of \(letter) has the bytes")
    }

    /// Makes a store of three saves with values outside of the row, copied as after a kill, without the last two.
    static func cut(_ folder: TemporaryDirectory) throws -> String {
        let (living, path) = (folder.path + "/living", folder.path + "/cut")
        let container = try container(living)
        let context = ModelContext(container)
        var whole = 0
        for number in 0..<3 {
            let shelf = Shelf(label: "shelf \(number)")
            context.insert(shelf)
            context.insert(Volume(title: "volume", pages: pages(number, 0), shelf: shelf))
            try context.save()
            if number == 0 { whole = try newestSegment(living).count }
        }
        try FileManager.default.copyItem(atPath: living, toPath: path)
        let file = try #require(try segments(path).last)
        try newestSegment(path).prefix(whole).write(to: URL(filePath: file))
        try container.close()
        return path
    }

    static func segments(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("s-") }.sorted()
            .map { path + "/" + $0 }
    }

    private static func newestSegment(_ path: String) throws -> Data {
        try Data(contentsOf: URL(filePath: try #require(try segments(path).last)))
    }
}

/// The lines of JSON in a run's output.
func jsonLines(_ output: [UInt8]?) throws -> [[String: Any]] {
    try String(decoding: output ?? [], as: UTF8.self).split(separator: "\n").map { line in
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }
}

/// The last line of JSON in a run's output.
func lastLine(_ output: [UInt8]?) throws -> [String: Any] {
    try #require(try jsonLines(output).last)
}

/// The output of a run as text.
func text(_ output: [UInt8]?) -> String { String(decoding: output ?? [], as: UTF8.self) }
