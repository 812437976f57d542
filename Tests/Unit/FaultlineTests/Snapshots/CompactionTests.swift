import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineStore
import Testing

@Suite struct CompactionTests {
    /// A store of small files, most of whose bytes are dead: photos that were changed ten times.
    private func churned() throws -> ModelContainer {
        var options = LogOptions()
        options.segmentByteCount = 64 << 10
        options.maintenance = .manual
        let container = try ModelContainer(for: [Photo.self], directory: "/store", on: MemoryDisk(), options: options)
        let context = ModelContext(container)
        let photos = (0..<50).map { Photo("\($0)") }
        for photo in photos { context.insert(photo) }
        for round in 0..<10 {
            for photo in photos { photo.small = Data(repeating: UInt8(round), count: 2_000) }
            try context.save()
        }
        return container
    }

    private func size(_ container: ModelContainer) throws -> UInt64 { try container.rowStore.log.usage().byteCount }

    @Test func givesBackWhatUpdatesLeftBehind() throws {
        let container = try churned()
        let before = try size(container)

        let summary = try container.compact()

        let after = try size(container)
        #expect(summary.droppedFileCount > 1)
        #expect(summary.reclaimedByteCount > 500_000)
        #expect(summary.copiedByteCount > 0)
        #expect(summary.damage.isEmpty)
        #expect(after < before / 3)
        let photos = try ModelContext(container).all(Photo.self)
        #expect(photos.count == 50)
        #expect(photos.allSatisfy { $0.small == Data(repeating: 9, count: 2_000) })
        #expect(try container.compact().droppedFileCount == 0)
    }

    @Test func isRefusedWhereNothingMayBeSaved() throws {
        let store = try TestStore(Photo.self)
        let url = try #require(store.url)
        let configuration = ModelConfiguration(url: url, allowsSave: false)
        let reader = try ModelContainer(for: Photo.self, configurations: configuration)

        let error = #expect(throws: StorageError.self) { try reader.compact() }

        #expect(error?.code == .readOnly)
    }
}
