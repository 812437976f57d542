import Faultline
import FaultlineTestSupport
import Testing

/// A walk over objects that holds one of them at a time, as mapped stages do.
struct SingleWalkTests {
    @Test func `a walk with one object at a time reads no more than its rows`() throws {
        let count = 600
        let stores = Stores()
        try stores.use(WalkVersion.self) { _, context in
            for number in 0..<count {
                context.insert(WalkVersion.Step(String(repeating: "s", count: 500) + "\(number)"))
            }
            try context.save()
        }
        let disk = CountingDisk(over: stores.disk)
        try Stores(disk, stores.directory).use(WalkVersion.self) { container, context in
            let identifiers = try context.fetchIdentifiers(FetchDescriptor<WalkVersion.Step>())
            let before = container.counters
            let (characters, counts) = try disk.counting {
                try identifiers.reduce(0) { sum, identifier in
                    try sum + #require(context.model(for: identifier) as? WalkVersion.Step).name.count
                }
            }
            #expect(characters > count * 500)
            let read = container.counters - before
            #expect(read.faultsFired == count && read.rowsRead == count)
            #expect(counts.bytesRead < count * 1_000)
        }
    }

    @Test func `the second pass over a mapping with only to-many relationships reads no rows`() throws {
        let stores = Stores()
        try stores.use(Music1.self) { _, context in
            for number in 0..<600 { context.insert(Music1.Tag(word: "w\(number)")) }
            try context.save()
        }
        let notes = PolicyNotes()
        let tag = EntityMapping(from: "Tag", to: "Tag", policy: RowNotingPolicy.self)
        let model = MappingModel(MusicPlan.album, MusicPlan.song, tag, MusicPlan.cover)
        try PolicyNotes.$current.withValue(notes) {
            try MusicPlan.$model.withValue(model) { try stores.use(Music2.self, MusicPlan.self) { _, _ in } }
        }
        #expect(notes.all == ["0"])
    }
}

/// Notes how many rows the second pass has read.
private final class RowNotingPolicy: EntityMigrationPolicy {
    private func rows(_ manager: MigrationManager) -> Int {
        manager.sourceContext.counters.rowsRead + manager.destinationContext.counters.rowsRead
    }

    override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        manager.userInfo["rows"] = rows(manager)
    }

    override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        PolicyNotes.current.add("\(rows(manager) - (manager.userInfo["rows"] as? Int ?? 0))")
    }
}

private enum WalkVersion: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Step.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Step {
        var name: String
        init(_ name: String) { self.name = name }
    }
}
