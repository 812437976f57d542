import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineModel
import FaultlineObjects
import FaultlineStore
import Foundation
import Testing

/// Text indexes that a version adds, and those of another release's tokenizer.
struct TextIndexBuildingTests {
    private static let count = 1_200

    private func makePapers(_ stores: Stores) throws {
        try stores.use(Papers1.self) { _, context in
            for number in 0..<Self.count {
                context.insert(Papers1.Paper("title \(number % 100)", note: "note \(number)"))
            }
            try context.save()
        }
    }

    private func readCompatible(_ stores: Stores) throws -> UInt8 {
        try #require(FileManager.default.contents(atPath: stores.directory + "/IDENTITY"))[72]
    }

    @Test func `a migration that is refused leaves the store to releases without text indexes`() throws {
        let stores = Stores(isOnDisk: true)
        try makePapers(stores)
        let before = try readCompatible(stores)
        for isOnline in [false, true] {
            var options = MigrationOptions(unhandledData: .fail)
            options.isOnline = isOnline
            #expect(throws: MigrationError.self) { try stores.use(Papers2.self, migration: options) { _, _ in } }
            try #expect(readCompatible(stores) == before)
        }
        try stores.use(Papers2.self) { _, context in
            try #expect(context.search(Papers2.Paper.self, "7").count == Self.count / 100)
        }
        try #expect(readCompatible(stores) == before | 48)
        try #expect(stores.findings(Papers2.self) == [])
    }

    /// Writes the map as a release with another tokenizer has it.
    private func renameTokenizer(_ container: ModelContainer) throws {
        let storage = container.rowStore.storage
        var map = storage.map
        map.entities[0].textIndexes?[0].version += 1
        _ = try container.rowStore.log.write(author: nil) { transaction in
            try StoredCatalog.write(storage.schema, map, newLayouts: [], in: &transaction)
        }
    }

    @Test(arguments: [false, true]) func `an index of another tokenizer is gone before anything is written`(
        isOnline: Bool
    ) throws {
        let stores = Stores()
        try makePapers(stores)
        try stores.use(IndexedPapers1.self) { container, _ in try renameTokenizer(container) }
        let control = MigrationControl()
        var options = MigrationOptions(progress: { if $0.pass == .indexes { control.cancel() } })
        options.isOnline = isOnline
        options.control = control
        let error = #expect(throws: MigrationError.self) {
            try stores.use(IndexedPapers1.self, migration: options) { _, _ in }
        }
        #expect(error?.code == .cancelled)
        let log = try Log.open(
            stores.directory, on: stores.disk, clock: .system, options: Stores.options, deriver: RowIndexDeriver())
        let stored = try #require(try StoredCatalog.read(log.snapshot()))
        #expect(stored.map.entities[0].textIndexes == nil)
        #expect(stored.migration?.sourceMap.entities[0].textIndexes == nil)
        log.abandonForTests()
        try stores.use(IndexedPapers1.self) { _, context in
            try #expect(context.search(IndexedPapers1.Paper.self, "7").count == Self.count / 100)
        }
        try #expect(stores.findings(IndexedPapers1.self) == [])
    }

    @Test func `a migration is continued by one that builds the same indexes`() throws {
        let stores = Stores()
        try makePapers(stores)
        try stores.use(Papers1.self) { container, _ in
            let storage = container.rowStore.storage
            func digest(_ version: any VersionedSchema.Type) throws -> String {
                try MigrationSteps(
                    from: storage.schema, storage.map, to: Schema(versionedSchema: version), plan: nil
                ).digest
            }
            let digests = try [digest(IndexedPapers1.self), digest(NotedPapers1.self)]
            #expect(digests[0] != digests[1])
            #expect(digests[0] == (try digest(IndexedPapers1.self)))
            #expect(digests[0].contains(" texts "))
        }
    }
}
