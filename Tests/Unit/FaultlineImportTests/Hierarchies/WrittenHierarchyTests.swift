internal import Faultline
internal import FaultlineCoreData
internal import FaultlineModel
internal import FaultlineTestSupport
internal import Foundation
internal import Testing

/// The folder `Written` has the classes of `PublicationModel` as they were written, and compiles them.
@Suite struct WrittenHierarchyTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Written")
    static let classes: [any PersistentModel.Type] = [
        Label.self, Magazine.self, Monograph.self, Review.self, Shelf.self,
    ]

    @Test func theClassesAreWrittenAsTheyAreCompiled() throws {
        let source = try PublicationModel.version().swiftSource()
        #expect(source.findings.map { "\($0.place) \($0.name)" } == ["Publication isAbstract"])
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
        #expect(source.files.map(\.name) == names)
        for file in source.files {
            let text = try String(contentsOf: Self.folder.appending(path: file.name), encoding: .utf8)
            #expect(file.text == text, "\(file.name)")
        }
    }

    @Test func theTablesOfClassesAndModelAreTheSame() throws {
        let model = try PublicationModel.version().schema.tablesWithoutClasses()
        let classes = try Schema.checked(Self.classes, version: model.version).tables()
        #expect(model.entities.map(\.name).sorted() == classes.entities.map(\.name).sorted())
        for table in model.entities {
            let other = try #require(classes.entitiesByName[table.name])
            #expect(table.fingerprint == other.fingerprint, "\(table) \(other)")
            #expect(table.indices == other.indices)
        }
        #expect(model.fingerprint == classes.fingerprint)
    }

    /// The classes are in files of their own, which may be compiled apart: all must have the same table of methods.
    @Test func aNewObjectHasTheInheritedValuesOfItsInitializer() throws {
        let folder = TemporaryDirectory()
        let place = ModelConfiguration(url: URL(filePath: folder.path).appending(path: "store"))
        let context = try ModelContext(ModelContainer(for: Schema(Self.classes), configurations: place))
        context.insert(Magazine(title: "Sky", frequency: 12, editor: "Ada"))
        context.insert(Monograph(title: "Sea"))
        try context.save()
        let found = try context.fetch(FetchDescriptor<Publication>(sortBy: [SortDescriptor(\.title)]))
        #expect(found.map(\.title) == ["Sea", "Sky"] && found[0] is Monograph)
        #expect((found[1] as? Magazine)?.editor == "Ada" && (found[1] as? Serial)?.frequency == 12)
    }

    /// A container of the schema has a table for each entity, and one of the classes a table for the hierarchy.
    @Test(arguments: [true, false]) func storesOfSchemaAndClassesAreRefusedByEachOther(isOfClasses: Bool) throws {
        let folder = TemporaryDirectory()
        let place = ModelConfiguration(url: URL(filePath: folder.path).appending(path: "store"))
        let schemas = [try PublicationModel.version().schema, Schema(Self.classes)]
        try ModelContainer(for: schemas[isOfClasses ? 1 : 0], configurations: place).close()
        do {
            _ = try ModelContainer(for: schemas[isOfClasses ? 0 : 1], configurations: place)
            Issue.record("The store was opened.")
        } catch let error as MigrationError { #expect(error.code == .notLightweight, "\(error)") }
        _ = try ModelContainer(for: schemas[isOfClasses ? 1 : 0], configurations: place)
    }
}
