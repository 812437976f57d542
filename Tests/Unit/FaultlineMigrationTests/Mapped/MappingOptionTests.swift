import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Testing

/// Mappings given in the options, for a program without a plan.
struct MappingOptionTests {
    private static let titles = MappingModel(
        EntityMapping(
            from: "Photo", to: "Photo",
            attributes: [PropertyMapping("title", .source("name")), PropertyMapping("picture", .source("bytes"))]))

    private func options(_ mapping: MappingModel) -> MigrationOptions {
        // Classes without a plan have no number of their own: they get 1.0.0, which is lower than that of the store.
        var options = MigrationOptions(allowsOlderSchema: true)
        options.mapping = mapping
        return options
    }

    /// A store of the last version but one.
    private func albums() throws -> Albums {
        let albums = try Albums()
        try albums.stores.use(Album4.self, AlbumPlan.self) { _, _ in }
        return albums
    }

    @Test func `they make one mapped stage, which is tried out too`() throws {
        let albums = try albums()
        let preview = try albums.stores.preview(Album5.self, migration: options(Self.titles))
        #expect(preview.failures.isEmpty && preview.objectsWritten == albums.count)
        try albums.stores.use(Album5.self, migration: options(Self.titles)) { container, _ in
            #expect(container.migrationReport.stages.map(\.kind) == [.mapped])
            #expect(container.migrationReport.blobBytesRead == 0)
        }
        // Nothing is left to migrate, so the mappings have no effect.
        try albums.stores.use(Album5.self, migration: options(Self.titles)) { container, _ in
            #expect(container.migrationReport.versions.isEmpty)
        }
        #expect(try albums.contents() == albums.expected)
    }

    @Test func `a plan beside them, and names that are not there, are refused before anything is written`() throws {
        let albums = try albums()
        let before = try albums.stores.rows()
        let both = #expect(throws: MigrationError.self) {
            try albums.stores.open(Album5.self, AlbumPlan.self, migration: options(Self.titles))
        }
        #expect(both?.code == .badPlan && both?.message.contains("AlbumPlan") == true)
        let wrong = #expect(throws: MigrationError.self) {
            try albums.stores.open(
                Album5.self, migration: options(MappingModel(EntityMapping(from: "Phto", to: "Photo"))))
        }
        #expect(wrong?.code == .badPlan && wrong?.message.contains("did you mean \"Photo\"") == true)
        #expect(try albums.stores.rows() == before)
    }

    @Test func `a migration continues with the options that it began with, and no others`() throws {
        let simulated = SimulatedDisk(directories: ["/s"])
        let albums = try Albums(Stores(simulated, "/s/store"))
        try albums.stores.use(Album4.self, AlbumPlan.self) { _, _ in }
        let killed = Box<[SimulatedDisk]>([])
        simulated.onOperation = { disk, _ in killed.value.append(disk.afterProcessDeath()) }
        try albums.stores.use(Album5.self, migration: options(Self.titles)) { _, _ in }
        simulated.onOperation = nil
        let place = try #require(
            try killed.value.firstIndex { try migration(underWayOn: $0.afterProcessDeath()) != nil })
        let stopped = killed.value[place]
        let unfinished = try #require(try migration(underWayOn: stopped.afterProcessDeath()))

        let target = Schema(versionedSchema: Album5.self)
        #expect(!unfinished.isWithoutCode)
        #expect(unfinished.goesOn(to: target, by: nil, mapping: Self.titles))
        var others = Self.titles
        others.entityMappings[0].name = "others"
        #expect(!unfinished.goesOn(to: target, by: nil, mapping: others))
        try Stores(stopped, "/s/store").use(Album5.self, migration: options(Self.titles)) { container, _ in
            #expect(container.migrationReport.resumes == 1)
        }
    }

    private func migration(underWayOn disk: SimulatedDisk) throws -> UnfinishedMigration? {
        let log = try Log.open(
            "/s/store", on: disk, clock: .system, options: Stores.options, deriver: RowIndexDeriver())
        defer { log.abandonForTests() }
        return try StoredCatalog.read(log.snapshot()).flatMap { UnfinishedMigration($0) }
    }
}
