import Faultline
import FaultlineTesting
import Synchronization
import Testing

/// The code of the Migrations cookbook.
@Suite struct CookbookGuide {
    private let place = GuidePlace()

    // swift-format-ignore
    private func URL(filePath path: String) -> Foundation.URL { place.url(path) }

    private var configuration: ModelConfiguration { ModelConfiguration(url: URL(filePath: "/var/lib/app.store")) }

    private func fill(_ version: any VersionedSchema.Type, _ body: (ModelContext) throws -> Void) throws {
        let container = try ModelContainer(for: Schema(versionedSchema: version), configurations: configuration)
        let context = ModelContext(container)
        try body(context)
        try context.save()
        try container.close()
    }

    private func fillContacts(_ heights: String...) throws {
        try fill(Contacts1.self) { context in
            for (number, height) in heights.enumerated() {
                context.insert(
                    Contacts1.Person(
                        name: "Ada\(number) Lovelace", townName: "London", height: height, photo: Data(count: 9_000)))
            }
        }
    }

    @Test func `Cookbook: lightweight recipes`() throws {
        try fill(Notes1.self) { context in
            context.insert(Notes1.Note(text: "a", words: 7, folder: Notes1.Folder(name: "f")))
            context.insert(Notes1.Note(text: "b", words: 8, mood: "glad"))
        }
        // snippet
        let container = try ModelContainer(
            for: Schema(versionedSchema: Notes2.self), migrationPlan: NotesPlan.self,
            configurations: configuration)
        print(container.migrationReport.text)
        // end
        let context = ModelContext(container)
        let notes = try context.fetch(FetchDescriptor<Notes2.Note>(sortBy: [SortDescriptor(\.words)]))
        #expect(notes.map(\.title) == ["a", "b"] && notes.map(\.mood) == ["calm", "glad"])
        #expect(notes.map(\.folders.count) == [1, 0] && !notes[0].isPinned && notes[0].editor == nil)
    }

    @Test func `Cookbook: a removed attribute with values is refused on request`() throws {
        try fill(Notes1.self) { context in
            let note = Notes1.Note(text: "a", words: 7)
            note.draft = "unfinished"
            context.insert(note)
        }
        var configuration = configuration
        // snippet
        configuration.options.migration.unhandledData = .fail
        // end
        let refused = #expect(throws: MigrationError.self) {
            try ModelContainer(
                for: Schema(versionedSchema: Notes2.self), migrationPlan: NotesPlan.self,
                configurations: configuration)
        }
        #expect(refused?.code == .unhandledData)
    }

    @Test func `Cookbook: streamed recipes`() throws {
        try fillContacts("1.7", "1.8")
        let container = try ModelContainer(
            for: Schema(versionedSchema: Contacts2.self), migrationPlan: ContactsPlan.self,
            configurations: configuration)
        let context = ModelContext(container)
        let people = try context.fetch(FetchDescriptor<Contacts2.Person>())
        #expect(people.map(\.last) == ["Lovelace", "Lovelace"] && people.map(\.height) == [1.7, 1.8])
        #expect(try context.fetchCount(FetchDescriptor<Contacts2.Town>()) == 1)
        #expect(people[0].portrait?.pixels?.count == 9_000 && people[0].town === people[1].town)
        #expect(container.migrationReport.blobBytesRead == 0)
    }

    @Test func `Cookbook: custom recipes`() throws {
        try fill(Tags1.self) { context in for name in ["red", "red", "blue"] { context.insert(Tags1.Tag(name: name)) } }
        let container = try ModelContainer(
            for: Schema(versionedSchema: Tags2.self), migrationPlan: TagsPlan.self, configurations: configuration)
        let tags = try ModelContext(container).fetch(FetchDescriptor<Tags2.Tag>())
        #expect(tags.map(\.name) == ["red", "blue"] && tags.map(\.length) == [3, 4])
    }

    @Test func `Cookbook: a relationship becomes a class`() throws {
        try fill(School1.self) { context in
            let ada = School1.Student(name: "Ada")
            context.insert(ada)
            ada.courses = [School1.Course(title: "Logic"), School1.Course(title: "Music")]
        }
        let container = try ModelContainer(
            for: Schema(versionedSchema: School2.self), migrationPlan: SchoolPlan.self, configurations: configuration)
        let ada = try #require(try ModelContext(container).fetch(FetchDescriptor<School2.Student>()).first)
        #expect(ada.enrolments.compactMap(\.course?.title).sorted() == ["Logic", "Music"])
    }

    @Test func `Cookbook: a mapping and a policy`() throws {
        try fill(Tags1.self) { context in context.insert(Tags1.Tag(name: "red/dark")) }
        // snippet
        let stage = MigrationStage.mapped(
            fromVersion: Tags1.self, toVersion: Tags2.self,
            MappingModel(
                EntityMapping(
                    from: "Tag", to: "Tag",
                    attributes: [
                        PropertyMapping("name", .source("name")),
                        PropertyMapping("length", .computed { tag, _ in (tag["name"] as? String)?.count }),
                    ],
                    where: Filter.key("name") != "")))
        // end
        let container = try MappedTags.$stage.withValue(stage) {
            try ModelContainer(
                for: Schema(versionedSchema: Tags2.self), migrationPlan: MappedTags.self, configurations: configuration)
        }
        #expect(try ModelContext(container).fetch(FetchDescriptor<Tags2.Tag>()).map(\.length) == [8])
    }

    private enum MappedTags: SchemaMigrationPlan {
        @TaskLocal static var stage: MigrationStage?
        static var schemas: [any VersionedSchema.Type] { [Tags1.self, Tags2.self] }
        static var stages: [MigrationStage] { stage.map { [$0] } ?? [] }
    }

    @Test func `Cookbook: a dry run`() throws {
        try fillContacts("1.7", "tall")
        let schema = Schema(versionedSchema: Contacts2.self)
        // snippet
        let report = try ModelContainer.previewMigration(
            for: schema, migrationPlan: ContactsPlan.self, configurations: [configuration])
        print(report.text)
        for failure in report.failures { print(failure.entity, failure.object ?? 0, failure.reason) }
        let isSafe = report.failures.isEmpty && report.fitsOnDisk
        // end
        #expect(!isSafe && report.failures.count == 1)
    }

    @Test func `Cookbook: progress, and objects that cannot be converted`() async throws {
        try fillContacts("1.7", "tall")
        let schema = Schema(versionedSchema: Contacts2.self)
        var configuration = configuration
        // snippet
        let control = MigrationControl()  // pause(), resume(), cancel()
        configuration.options.migration.control = control
        configuration.options.migration.bytesPerSecond = 20 << 20  // leaves the disk to others
        configuration.options.migration.progress = { progress in
            print(progress.entity, progress.done, "of", progress.total)
        }
        // end
        // snippet
        configuration.options.migration.onFailure = .quarantine(limit: 100)
        // end
        let container = try ModelContainer(
            for: schema, migrationPlan: ContactsPlan.self, configurations: configuration)
        // snippet
        let quarantine = try container.quarantine()
        try quarantine.enumerate { object in
            print(object.entityName, object.number, object.reason, object["name"] ?? "")
        }
        // end
        #expect(try !quarantine.isEmpty)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Contacts2.Person>()) == 1)
    }

    @Test func `Cookbook: the way back`() throws {
        try fillContacts("1.7")
        let schema = Schema(versionedSchema: Contacts2.self)
        var configuration = configuration
        // snippet
        configuration.options.migration.gracePeriod = .seconds(3 * 24 * 3_600)
        let container = try ModelContainer(
            for: schema, migrationPlan: ContactsPlan.self, configurations: configuration)
        // end
        try container.close()
        // snippet
        try ModelContainer.rollBackMigration(of: configuration)  // the store is open nowhere
        // end
        let old = try ModelContainer(for: Contacts1.Person.self, configurations: configuration)
        #expect(try ModelContext(old).fetchCount(FetchDescriptor<Contacts1.Person>()) == 1)
    }

    @Test func `Cookbook: released versions do not change`() throws {
        let (update, check) = (true, false)
        try SchemaLock.check(ContactsPlan.self, file: URL(filePath: "Tests/Contacts.lock"), isUpdating: update)
        // snippet
        try SchemaLock.check(ContactsPlan.self, file: URL(filePath: "Tests/Contacts.lock"))
        // end
        try SchemaLock.check(ContactsPlan.self, file: URL(filePath: "Tests/Contacts.lock"), isUpdating: check)
    }

    @Test func `Cookbook: stores of each release are kept and migrated`() throws {
        let isMaking = true
        let folder = URL(filePath: "Tests/GoldenStores")
        try MigrationTestKit(ContactsPlan.self, goldenStores: folder).makeGoldenStores(isMaking: isMaking) {
            version, context in
            if version == Contacts1.self {
                context.insert(Contacts1.Person(name: "Ada Lovelace", townName: "London", height: "1.7"))
            }
        }
        // snippet
        let kit = MigrationTestKit(
            ContactsPlan.self, goldenStores: URL(filePath: "Tests/GoldenStores"))
        try kit.makeGoldenStores { version, context in
            if version == Contacts1.self {
                context.insert(
                    Contacts1.Person(name: "Ada Lovelace", townName: "London", height: "1.7"))
            }
        }
        try kit.run { version, context in
            guard version == Contacts2.self else { return }
            _ = try context.fetch(FetchDescriptor<Contacts2.Person>())  // check them
        }
        let stops = try kit.stopAtWrites(every: 20)  // kills the migration at each 20th write
        // end
        #expect(stops.stops > 0)
    }
}
