import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineModel
import FaultlineStore
import FaultlineTestSupport
import Testing

/// A program without a plan opens a store under a schema that the store has already left.
@Suite struct OlderSchemaTests {
    private let folder = TemporaryDirectory()
    private var path: String { folder.path + "/notes" }

    enum V1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Note.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Note {
            var title: String
            init(title: String) { self.title = title }
        }
    }

    enum V2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Note.self, Tag.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Note {
            var title: String
            var body: String?
            init(title: String, body: String? = nil) {
                self.title = title
                self.body = body
            }
        }

        @Model final class Tag {
            var name: String
            init(name: String) { self.name = name }
        }
    }

    /// The second version with its properties in another order, which is no migration.
    enum Reordered: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Note.self, Tag.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Note {
            var body: String?
            var title: String
            init(title: String) { self.title = title }
        }

        @Model final class Tag {
            var name: String
            init(name: String) { self.name = name }
        }
    }

    /// A plan that includes the way back.
    enum BackPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V2.self, V1.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: V2.self, toVersion: V1.self)] }
    }

    /// The schema of a version without its number, as a container that is given only classes has it.
    private func unnumbered(_ version: any VersionedSchema.Type) -> Schema { Schema(version.models) }

    @discardableResult
    private func use<R>(
        _ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)? = nil,
        _ change: (inout StoreOptions.Migration) -> Void = { _ in }, allowsSave: Bool = true,
        _ body: (ModelContainer, ModelContext) throws -> R
    ) throws -> R {
        var configuration = ModelConfiguration(
            url: URL(filePath: path, directoryHint: .isDirectory), allowsSave: allowsSave)
        configuration.options.durability = .async
        change(&configuration.options.migration)
        let container = try ModelContainer(for: schema, migrationPlan: plan, configurations: [configuration])
        defer { try? container.close() }
        return try body(container, ModelContext(container))
    }

    private func refusal(
        _ schema: Schema, allowsSave: Bool = true, _ change: (inout StoreOptions.Migration) -> Void = { _ in }
    ) -> MigrationError? {
        #expect(throws: MigrationError.self) { try use(schema, nil, change, allowsSave: allowsSave) { _, _ in } }
    }

    /// Writes a note under the newer schema.
    private func write(_ schema: Schema, body: String?) throws {
        try use(schema) { _, context in
            context.insert(V2.Note(title: "one", body: body))
            try context.save()
        }
    }

    private func bodies(_ schema: Schema) throws -> [String?] {
        try use(schema) { _, context in try context.fetch(FetchDescriptor<V2.Note>()).map(\.body) }
    }

    private func lineage() throws -> [String] {
        try use(Schema(versionedSchema: V2.self)) { container, _ in
            let snapshot = container.rowStore.log.snapshot()
            let number = StoredCatalog.RecordNumber.lineage
            let stored = try #require(try StoredCatalog.entry(SchemaLineage.self, number, in: snapshot))
            return stored.schemas.map { "\($0.version)" }
        }
    }

    @Test("A1: an older program is refused the store that a newer one has written, and nothing is lost")
    func refusesAnOlderVersion() throws {
        let (old, new) = (Schema(versionedSchema: V1.self), Schema(versionedSchema: V2.self))
        try write(new, body: "kept")
        for isPreview in [false, true] {
            let error = isPreview ? previewRefusal(old) : refusal(old)
            #expect(error?.code == .backward && error?.stage == "2.0.0 → 1.0.0")
            for part in [
                path, "written by version 2.0.0", "knows 1.0.0", "faultline rollback", "plan",
                "configuration.options.migration.allowsOlderSchema = true",
            ] { #expect(error?.message.contains(part) == true, "no \(part)") }
        }
        #expect(refusal(old, allowsSave: false)?.code == .backward)
        #expect(refusal(old) { $0.unhandledData = .drop }?.code == .backward)
        #expect(try bodies(new) == ["kept"])
    }

    @Test("a container without a plan does not lower the version, and changes a schema in one transaction")
    func keepsTheVersion() throws {
        try write(Schema(versionedSchema: V2.self), body: "kept")
        var sequences: [UInt64] = []
        for schema in [Schema(versionedSchema: V2.self), unnumbered(V2.self), unnumbered(Reordered.self)] {
            try use(schema) { container, _ in
                let snapshot = container.rowStore.log.snapshot()
                sequences.append(snapshot.sequence)
                let stored = try #require(try StoredCatalog.read(snapshot))
                #expect(stored.schema.version == Schema.Version(2, 0, 0))
                let names = [stored.schema, schema].map { $0.entities.map { $0.properties.map(\.name) } }
                #expect(names[0] == names[1])
            }
        }
        #expect(sequences.map { $0 - sequences[0] } == [0, 0, 1])
        #expect(refusal(Schema(versionedSchema: V1.self))?.stage == "2.0.0 → 1.0.0")
        #expect(try lineage() == ["2.0.0"])
    }

    private func previewRefusal(_ schema: Schema) -> MigrationError? {
        #expect(throws: MigrationError.self) {
            try ModelContainer.previewMigration(
                for: schema,
                configurations: [ModelConfiguration(url: URL(filePath: path, directoryHint: .isDirectory))])
        }
    }

    @Test("A1: a schema without a number is known by its fingerprint, and left behind where values would go")
    func knowsSchemasByFingerprint() throws {
        let (old, new) = (unnumbered(V1.self), unnumbered(V2.self))
        try use(old) { _, _ in }
        try write(new, body: nil)
        // Nothing would be dropped, so both going back and going forward again are allowed.
        try use(old) { container, _ in #expect(!container.migrationReport.versions.isEmpty) }
        #expect(try bodies(new) == [nil])
        try use(new) { _, context in
            try context.fetch(FetchDescriptor<V2.Note>()).first?.body = "kept"
            context.insert(V2.Tag(name: "t"))
            try context.save()
        }
        let error = refusal(old) { $0.unhandledData = .drop }
        #expect(error?.code == .backward && error?.entityName == "Note" && error?.propertyName == "body")
        for part in ["Note.body of 1 object", "Tag of 1 object", "\(old.fingerprint)", "\(new.fingerprint)"] {
            #expect(error?.message.contains(part) == true, "no \(part)")
        }
        #expect(try bodies(new) == ["kept"])
    }

    @Test("A1: without a plan values that a schema does not have are refused with their counts, empty ones go")
    func refusesValuesWithoutAPlan() throws {
        let (other, full) = (unnumbered(V1.self), unnumbered(V2.self))
        try write(full, body: "kept")
        // The store never had the other schema.
        let error = refusal(other)
        #expect(error?.code == .unhandledData && error?.entityName == "Note" && error?.propertyName == "body")
        #expect(error?.message.contains("Note.body of 1 object") == true)
        #expect(error?.message.contains("Tag") == false)
        // The other schema is not an older one either: consent to go back does not allow losses on the way forward.
        #expect(refusal(other) { $0.allowsOlderSchema = true }?.code == .unhandledData)
        #expect(try bodies(full) == ["kept"])
        try use(full) { _, context in
            try context.fetch(FetchDescriptor<V2.Note>()).first?.body = nil
            try context.save()
        }
        try use(other) { container, _ in #expect(!container.migrationReport.versions.isEmpty) }
        #expect(try bodies(full) == [nil])
        try use(full) { _, context in
            try context.fetch(FetchDescriptor<V2.Note>()).first?.body = "gone"
            try context.save()
        }
        // The store returned to the full schema, and so has not left the other one.
        #expect(refusal(other)?.code == .unhandledData)
    }

    @Test("A1: allowsOlderSchema goes back, reports the loss, and the newer schema is free again")
    func goesBackWhereThatIsAllowed() throws {
        let (old, new) = (Schema(versionedSchema: V1.self), Schema(versionedSchema: V2.self))
        try use(old) { _, _ in }
        try write(new, body: "dropped")
        #expect(
            refusal(old) {
                $0.allowsOlderSchema = true; $0.unhandledData = .fail
            }?.code == .unhandledData)
        try use(old, nil, { $0.allowsOlderSchema = true }) { container, _ in
            let left = try #require(container.migrationReport.stages.first?.leftBehind)
            #expect(left.map(\.attribute) == ["body"] && left.map(\.objects) == [1])
        }
        #expect(try bodies(new) == [nil])
        #expect(try lineage() == ["1.0.0", "2.0.0"])
    }

    @Test("A1: a plan that names the way back is obeyed")
    func obeysAPlan() throws {
        let (old, new) = (Schema(versionedSchema: V1.self), Schema(versionedSchema: V2.self))
        try write(new, body: "dropped")
        try use(old, BackPlan.self) { container, context in
            #expect(container.migrationReport.versions == ["2.0.0", "1.0.0"])
            let count = try context.fetchCount(FetchDescriptor<V1.Note>())
            #expect(count == 1)
        }
    }

    @Test("A1: a rollback takes the newer schema off the list")
    func rollbackTakesOffTheList() throws {
        let (old, new) = (Schema(versionedSchema: V1.self), Schema(versionedSchema: V2.self))
        try use(old) { _, context in
            context.insert(V1.Note(title: "one"))
            try context.save()
        }
        try use(new, nil, { $0.gracePeriod = .seconds(3_600) }) { _, _ in }
        #expect(try lineage() == ["1.0.0", "2.0.0"])
        #expect(refusal(old)?.code == .backward)
        try ModelContainer.rollBackMigration(
            of: ModelConfiguration(url: URL(filePath: path, directoryHint: .isDirectory)))
        try use(old) { container, context in
            #expect(container.migrationReport.versions.isEmpty)
            let count = try context.fetchCount(FetchDescriptor<V1.Note>())
            #expect(count == 1)
        }
    }

    @Test("A1: a store without a list begins one, and one that an older release has migrated is put right")
    func settlesTheList() throws {
        let new = Schema(versionedSchema: V2.self)
        try write(new, body: "kept")
        for stale in [nil, SchemaLineage(Schema(versionedSchema: V1.self))] {
            try use(new) { container, _ in
                let number = StoredCatalog.RecordNumber.lineage
                _ = try container.rowStore.log.write(author: nil) { transaction in
                    try transaction.delete(number, in: .catalog)
                    if let stale { try StoredCatalog.put(stale, number, in: &transaction) }
                }
            }
            #expect(try lineage() == (stale == nil ? ["2.0.0"] : ["1.0.0", "2.0.0"]))
        }
    }

    @Test("A1: a list keeps its schemas apart, and goes back to one")
    func keepsItsRules() throws {
        let schemas = (1...3).map {
            Schema(Schema.Entity("E\($0)", properties: Schema.Attribute(name: "n", valueType: Int.self)))
        }
        var lineage = SchemaLineage(schemas[0])
        for schema in schemas { lineage.enter(schema) }
        #expect(lineage.schemas.count == 3 && lineage.hasLeft(schemas[1]) && !lineage.hasLeft(schemas[2]))
        let bytes = try NestedEncoder.encode(lineage)
        #expect(try bytes.withUnsafeBytes { try NestedDecoder.decode(SchemaLineage.self, from: $0) } == lineage)
        lineage.enter(schemas[1])
        #expect(lineage.schemas.count == 2 && lineage.hasLeft(schemas[0]) && !lineage.hasLeft(schemas[2]))
    }
}
