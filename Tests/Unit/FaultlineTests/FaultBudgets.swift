import Faultline
import FaultlineDisk
import FaultlineTestSupport
import Testing

/// Counts the loads of a service's common patterns: the table of `docs/Faulting.md`.
///
/// Each begins with a newly opened store of 1,000 documents in 10 folders and 100 photos of 100,000 bytes.
@Suite struct FaultBudgets {
    /// A pattern and exactly how much it loads.
    struct Pattern: Sendable, CustomTestStringConvertible {
        let name: String
        let faults: Int
        let rows: Int
        let blobBytes: Int
        /// Read calls on the disk, including those for pages of tables and indexes.
        let reads: Int
        let body: @Sendable (ModelContext) throws -> Void

        init(
            _ name: String, faults: Int, rows: Int, blobBytes: Int = 0, reads: Int,
            _ body: @escaping @Sendable (ModelContext) throws -> Void
        ) {
            self.name = name
            self.faults = faults
            self.rows = rows
            self.blobBytes = blobBytes
            self.reads = reads
            self.body = body
        }

        var testDescription: String { name }
        /// The pattern as a row of the documentation's table.
        var line: String { "| \(name) | \(faults) | \(rows) | \(blobBytes) | \(reads) |" }
    }

    static let documentCount = 1_000
    static let photoByteCount = 100_000

    static let patterns: [Pattern] = [
        Pattern("list: all documents, not touched", faults: 0, rows: 0, reads: 3) {
            try check($0.all(Document.self).count == documentCount)
        },
        Pattern("list: the title of each, in order", faults: 4, rows: 1000, reads: 10) {
            try check($0.all(Document.self).reduce(0) { $0 + $1.title.utf8.count } > 0)
        },
        Pattern("list: the same by `enumerate`", faults: 0, rows: 1000, reads: 7) { context in
            var count = 0
            try context.enumerate(FetchDescriptor<Document>()) { count += $0.title.isEmpty ? 0 : 1 }
            try check(count == documentCount)
        },
        Pattern("page: the titles of the twenty after the first hundred", faults: 5, rows: 20, reads: 11) { context in
            var page = FetchDescriptor<Document>()
            page.fetchOffset = 100
            page.fetchLimit = 20
            try check(context.fetch(page).map(\.title).count == 20)
        },
        Pattern("count by an attribute without an index", faults: 0, rows: 1000, reads: 7) {
            try check($0.fetchCount(FetchDescriptor<Document>(predicate: #Predicate { $0.number < 10 })) == 10)
        },
        Pattern("sum of an attribute", faults: 0, rows: 1000, reads: 7) {
            try check($0.fetchAggregates(FetchDescriptor<Document>(), .sum(\.number)) == documentCount * 999 / 2)
        },
        Pattern("detail: all attributes of one, found by its number", faults: 0, rows: 1000, reads: 7) {
            let found = try $0.fetch(FetchDescriptor<Document>(predicate: #Predicate { $0.number == 500 }))
            try check(found.map(\.title) == ["document 500"])
        },
        Pattern("detail: all attributes of one, found by a unique name", faults: 0, rows: 1, reads: 5) {
            let found = try $0.fetch(FetchDescriptor<Hall>(predicate: #Predicate { $0.name == "hall 50" }))
            try check(found.map(\.name) == ["hall 50"])
        },
        Pattern("N+1: the folder's name of each, in no order", faults: 1011, rows: 1011, reads: 103) { context in
            let documents = try context.all(Document.self)
            let names = (0..<documentCount).map { documents[$0 * 379 % documentCount].folder?.name ?? "" }
            try check(Set(names).count == 10)
        },
        Pattern("the same, folders prefetched", faults: 0, rows: 1010, reads: 9) { context in
            var descriptor = FetchDescriptor<Document>()
            descriptor.relationshipKeyPathsForPrefetching = [\.folder]
            let documents = try context.fetch(descriptor)
            let names = (0..<documentCount).map { documents[$0 * 379 % documentCount].folder?.name ?? "" }
            try check(Set(names).count == 10)
        },
        Pattern("master and detail: the titles of one folder", faults: 4, rows: 100, reads: 16) {
            try check($0.all(Folder.self)[3].documents.map(\.title).count == documentCount / 10)
        },
        Pattern("how many documents each folder has", faults: 0, rows: 0, reads: 14) {
            try check($0.all(Folder.self).allSatisfy { $0.relationship(\.documents).count == documentCount / 10 })
        },
        Pattern("blob list: the names of all photos", faults: 4, rows: 100, reads: 5) {
            try check($0.all(Photo.self).map(\.name).count == 100)
        },
        Pattern("blob detail: name and photo of one", faults: 1, rows: 1, blobBytes: 100_000, reads: 7) {
            let photo = try $0.all(Photo.self)[50]
            try check(photo.name == "photo 50" && photo.external?.count == photoByteCount)
        },
        Pattern("1,000 bytes from the middle of a photo", faults: 1, rows: 1, blobBytes: 1000, reads: 6) {
            let blob = try $0.all(Photo.self)[50].blob(\.external)
            try check(blob?.data(in: 50_000..<51_000).count == 1_000)
        },
        Pattern("a photo's name set, and saved", faults: 1, rows: 1, reads: 6) {
            try $0.all(Photo.self)[50].name = "other"
            try $0.save()
        },
    ]

    private struct WrongResult: Error {}
    private static func check(_ isRight: Bool) throws { if !isRight { throw WrongResult() } }

    private static func configuration(_ folder: TemporaryDirectory) -> ModelConfiguration {
        ModelConfiguration(url: URL(filePath: "\(folder.path)/budgets.store"))
    }

    private static func open(_ folder: TemporaryDirectory) throws -> ModelContainer {
        let schema = Schema([Folder.self, Photo.self, Hall.self])
        return try ModelContainer(for: schema, configurations: [configuration(folder)])
    }

    /// Made once for all patterns: the changes of one pattern do not affect the counts of the others.
    private static func fill(_ folder: TemporaryDirectory) throws {
        let container = try open(folder)
        let context = ModelContext(container)
        let folders = (0..<10).map { Folder("folder \($0)") }
        for folder in folders { context.insert(folder) }
        for number in 0..<documentCount {
            let document = Document("document \(number)", number: number)
            document.folder = folders[number % 10]
            context.insert(document)
        }
        for number in 0..<100 {
            let photo = Photo("photo \(number)")
            photo.external = Data(repeating: UInt8(number), count: photoByteCount)
            context.insert(photo)
            context.insert(Hall("hall \(number)"))
        }
        try context.save()
        try container.close()
    }

    @Test(arguments: patterns) func loadsExactlyItsBudget(_ pattern: Pattern) throws {
        let folder = TemporaryDirectory()
        try Self.fill(folder)
        let disk = CountingDisk(over: PosixDisk())
        let container = try StoreDisk.$current.withValue(disk) { try Self.open(folder) }
        let context = ModelContext(container)
        let before = context.counters
        let reads = try disk.counting { try pattern.body(context) }.counts.reads
        let loaded = context.counters - before
        let counted = Pattern(
            pattern.name, faults: loaded.faultsFired, rows: loaded.rowsRead, blobBytes: loaded.blobBytesRead,
            reads: reads,
            pattern.body)
        #expect(counted.line == pattern.line)
        try container.close()
    }

    @Test func theDocumentationSaysSo() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let text = try String(contentsOf: root.appending(path: "docs/Faulting.md"), encoding: .utf8)
        for pattern in Self.patterns { #expect(text.contains(pattern.line + "\n")) }
    }
}
