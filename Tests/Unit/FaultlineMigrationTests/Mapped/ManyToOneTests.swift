import Faultline
import FaultlineMigration
import FaultlineObjects
import Testing

/// Many old objects that become one new object.
struct ManyToOneTests {
    /// Migrates by a model, and checks the outcome.
    ///
    /// - Returns: The notes of the model's policies.
    private func notes(
        of model: MappingModel, over stores: Stores, batchByteCount: Int? = 1, _ check: (ModelContext) throws -> Void
    ) throws -> PolicyNotes {
        let notes = PolicyNotes()
        var options = Stores.dropping
        if let batchByteCount { options.batchByteCount = batchByteCount }
        try PolicyNotes.$current.withValue(notes) {
            try MusicPlan.$model.withValue(model) {
                try stores.use(Music2.self, MusicPlan.self, migration: options) { _, context in try check(context) }
            }
        }
        return notes
    }

    /// Merges some tags, each of one of three albums, into one tag: saves after each.
    ///
    /// - Returns: The stored pairs of old and new objects that the stage has visited.
    private func visits(merging count: Int) throws -> Int {
        let stores = Stores()
        try stores.use(Music1.self) { _, context in
            let albums = (0..<3).map { Music1.Album(title: "a\($0)") }
            albums.forEach { context.insert($0) }
            for number in 0..<count {
                let tag = Music1.Tag(word: "w\(number)")
                context.insert(tag)
                tag.albums = [albums[number % 3]]
            }
            try context.save()
        }
        let model = MappingModel(
            MusicPlan.album, MusicPlan.song, EntityMapping(from: "Tag", to: "Tag", policy: MergingPolicy.self),
            MusicPlan.cover)
        let notes = try self.notes(of: model, over: stores) { context in
            let tags = try context.all(Music2.Tag.self)
            #expect(tags.map(\.word) == ["w\(count - 1)"])
            #expect(tags.first?.albums.map(\.title).sorted() == ["a0", "a1", "a2"])
        }
        #expect(notes.all.first == "\(count) sources, the first is 1")
        return try #require(notes.all.last.flatMap { Int($0) })
    }

    @Test func `C4: pairs that a policy visits grow with the objects that it merges, not with their square`() throws {
        let few = try visits(merging: 100)
        let many = try visits(merging: 400)
        #expect(many <= 5 * few, "\(few), then \(many)")
        #expect(many <= 400 * 8, "\(many)")
    }

    @Test func `C4: many old objects that become many new ones are associated once each`() throws {
        let stores = Stores()
        try stores.use(Music1.self) { _, context in
            for number in 0..<40 { context.insert(Music1.Tag(word: "w\(number)")) }
            try context.save()
        }
        let model = MappingModel(
            MusicPlan.album, MusicPlan.song, EntityMapping(from: "Tag", to: "Tag", policy: CrossingPolicy.self),
            MusicPlan.cover)
        let notes = try self.notes(of: model, over: stores) { context in
            let tags = try context.all(Music2.Tag.self)
            #expect(tags.count == 40)
        }
        #expect(notes.all == ["40 tags, 40 to 40 sources, 40 to 40 destinations"])
    }

    /// Makes many records and many covers of one album, and gives each record a cover by the mapping.
    ///
    /// - Returns: The stored pairs of old and new objects that the stage has visited.
    private func visits(counterparts count: Int) throws -> Int {
        let stores = Stores()
        try stores.use(Music1.self) { _, context in
            let album = Music1.Album(title: "\(count)")
            album.cover = MusicStore.cover
            context.insert(album)
            try context.save()
        }
        func spreading(_ mapping: EntityMapping) -> EntityMapping {
            var mapping = mapping
            mapping.entityMigrationPolicy = SpreadingPolicy.self
            return mapping
        }
        let model = MappingModel(
            spreading(MusicPlan.album), MusicPlan.song, MusicPlan.tag, spreading(MusicPlan.cover))
        let notes = try self.notes(of: model, over: stores, batchByteCount: nil) { context in
            let records = try context.all(Music2.Record.self)
            #expect(records.count == count)
            // Each takes the first cover from the record before.
            #expect(records.map { $0.cover == nil } == (0..<count).map { $0 < count - 1 })
        }
        return try #require(notes.all.last.flatMap { Int($0) })
    }

    @Test func `C4: pairs that counterparts of one object visit grow with their number, not with its square`() throws {
        let few = try visits(counterparts: 50)
        let many = try visits(counterparts: 200)
        #expect(many <= 5 * few, "\(few), then \(many)")
    }

    @Test func `B4: links of new objects that keep their numbers are not looked up`() throws {
        let stores = Stores()
        try stores.use(Music1.self) { _, context in
            for number in 0..<500 { context.insert(Music1.Album(title: "a\(number)")) }
            try context.save()
        }
        var album = MusicPlan.album
        album.entityMigrationPolicy = TaggingPolicy.self
        let model = MappingModel(album, MusicPlan.song, MusicPlan.tag, MusicPlan.cover)
        let notes = try self.notes(of: model, over: stores) { context in
            let tags = try context.all(Music2.Tag.self)
            #expect(tags.map(\.albums.count) == [500])
        }
        #expect(notes.all == ["0"])
    }
}

/// Gives each record the one tag that it has made, and notes the index entries that saves have read.
private final class TaggingPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let known = manager.userInfo["tag"] as? ManagedObject
        let tag = try known ?? manager.destinationContext.insertNewObject(forEntityName: "Tag")
        if known == nil { tag["word"] = "all" }
        manager.userInfo["tag"] = tag
        let made = try manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        made.first?["tags"] = [tag]
    }

    override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        PolicyNotes.current.add("\(manager.destinationContext.core.reports.walked.indexEntries)")
    }
}

/// Makes 40 tags from the first tag, and associates each tag with each: again after the pairs were saved.
private final class CrossingPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        var tags = manager.userInfo["tags"] as? [ManagedObject] ?? []
        if tags.isEmpty {
            for number in 0..<40 {
                let tag = try manager.destinationContext.insertNewObject(forEntityName: "Tag")
                tag["word"] = "new \(number)"
                tags.append(tag)
            }
            manager.userInfo["tags"] = tags
        }
        for tag in tags { try manager.associate(sourceInstance: sInstance, withDestinationInstance: tag, for: mapping) }
    }

    override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        guard let tags = manager.userInfo["tags"] as? [ManagedObject] else { return }
        // Saves the pairs.
        _ = try manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
        for old in try manager.sourceContext.fetch(FetchRequest(entityName: "Tag")) {
            for tag in tags.reversed() {
                try manager.associate(sourceInstance: old, withDestinationInstance: tag, for: mapping)
            }
        }
    }

    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
        let name = mapping.name
        guard let tags = manager.userInfo["tags"] as? [ManagedObject] else { return }
        let sources = try tags.map {
            try manager.sourceInstances(forEntityMappingName: name, destinationInstances: [$0]).count
        }
        let destinations = try manager.sourceContext.fetch(FetchRequest(entityName: "Tag")).map {
            try manager.destinationInstances(forEntityMappingName: name, sourceInstances: [$0]).count
        }
        PolicyNotes.current.add(
            "\(tags.count) tags, \(sources.min() ?? 0) to \(sources.max() ?? 0) sources, "
                + "\(destinations.min() ?? 0) to \(destinations.max() ?? 0) destinations")
    }
}

/// Makes as many objects of each album as its title says.
private final class SpreadingPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        for _ in 0..<(Int(sInstance["title"] as? String ?? "") ?? 0) {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        }
    }

    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
        PolicyNotes.current.add("\(manager.visitedPairCount)")
    }
}

/// Makes one tag from all tags, with the word of the last.
private final class MergingPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let known = manager.userInfo["tag"] as? ManagedObject
        let tag = try known ?? manager.destinationContext.insertNewObject(forEntityName: "Tag")
        manager.userInfo["tag"] = tag
        tag["word"] = sInstance["word"]
        // A second association has no further effect.
        for _ in 0..<2 { try manager.associate(sourceInstance: sInstance, withDestinationInstance: tag, for: mapping) }
    }

    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
        let visits = manager.visitedPairCount
        guard let tag = manager.userInfo["tag"] as? ManagedObject else { return }
        let sources = try manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [tag])
        PolicyNotes.current.add("\(sources.count) sources, the first is \(sources.first?.objectID.number ?? 0)")
        PolicyNotes.current.add("\(visits)")
    }
}
