import FaultlineCoreData
import Testing

// snippet
final class CoverPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        guard let bytes = source.value(forKey: "cover") as? Data else { return }
        let cover = NSEntityDescription.insertNewObject(
            forEntityName: "Cover", into: manager.destinationContext)
        cover.setValue(bytes, forKey: "bytes")
        let made = manager.destinationInstances(
            forEntityMappingName: mapping.name, sourceInstances: [source])
        made.last?.setValue(cover, forKey: "cover")
    }
}
// end

/// The code of From Core Data that keeps Core Data's names.
@Suite struct CoreDataNamesGuide {
    private let place = GuidePlace()

    private static let schema = Schema(
        Schema.Entity(
            "Book", properties: Schema.Attribute(name: "title", valueType: String.self),
            Schema.Attribute(name: "cover", valueType: Data?.self)))

    private static let newSchema = Schema(
        Schema.Entity(
            "Book", properties: Schema.Attribute(name: "title", valueType: String.self),
            Schema.Relationship(name: "cover", destination: "Cover", isToOne: true, inverseName: "book")),
        Schema.Entity(
            "Cover", properties: Schema.Attribute(name: "bytes", valueType: Data.self),
            Schema.Relationship(name: "book", destination: "Book", isToOne: true, inverseName: "cover")))

    @Test func `From Core Data: a policy under its old names`() throws {
        var configuration = ModelConfiguration(url: place.url("/var/lib/covers.store"))
        let container = try ModelContainer(for: Self.schema, configurations: configuration)
        let context = ModelContext(container)
        let book = try context.insertNewObject(forEntityName: "Book")
        book.setValuesForKeys(["title": "Emma", "cover": Data([1, 2, 3])])
        try context.save()
        try container.close()
        configuration.options.migration.mapping = MappingModel(
            EntityMapping(from: "Book", to: "Book", policy: CoverPolicy.self))
        let newContainer = try ModelContainer(for: Self.newSchema, configurations: configuration)
        let books = try ModelContext(newContainer).fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
        #expect(books.map { $0.value(forKeyPath: "cover.bytes") as? Data } == [Data([1, 2, 3])])
    }
}
