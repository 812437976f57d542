import FaultlineCoreData
import FaultlineTestSupport
import Foundation
import Testing

@Suite(.timeLimit(.minutes(2))) struct PersistentContainerTests {
    private let folder = TemporaryDirectory()

    private func description(_ name: String) -> NSPersistentStoreDescription {
        let description = NSPersistentStoreDescription(url: URL(filePath: "\(folder.path)/\(name).store"))
        description.configuration = name
        return description
    }

    @Test func `a container opens its stores, and has contexts over them`() async throws {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: LibraryModel.code)
        #expect(container.persistentStoreDescriptions.map { $0.url?.lastPathComponent } == ["Library.store"])
        let memory = NSPersistentStoreDescription()
        memory.type = NSInMemoryStoreType
        memory.configuration = "Session"
        container.persistentStoreDescriptions = [description("Catalog"), memory]
        var loaded: [String?] = []
        container.loadPersistentStores { description, error in
            #expect(error == nil)
            loaded.append(description.configuration)
        }
        #expect(loaded == ["Catalog", "Session"])
        let view = container.viewContext
        #expect(view.persistentStoreCoordinator === container.persistentStoreCoordinator)
        NSEntityDescription.insertNewObject(forEntityName: "Visit", into: view).setValue(1, forKey: "code")
        try view.save()
        let background = container.newBackgroundContext()
        NSEntityDescription.insertNewObject(forEntityName: "Book", into: background).setValue("Emma", forKey: "title")
        try background.save()
        let count = try await container.performBackgroundTask { context in
            #expect(context.persistentStoreCoordinator != nil)
            return try context.count(for: FetchRequest(entityName: "Book"))
        }
        #expect(count == 1)
        #expect(try view.count(for: FetchRequest(entityName: "Book")) == 1)
    }

    @Test func `a store that cannot be opened is told`() throws {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: LibraryModel.code)
        container.persistentStoreDescriptions = [description("Catalog"), description("Other")]
        var errors: [PersistentStoreError.Code?] = []
        container.loadPersistentStores { _, error in errors.append((error as? PersistentStoreError)?.code) }
        #expect(errors == [nil, .unknownConfiguration])
        // A store that is open already stays so.
        errors = []
        container.loadPersistentStores { _, error in errors.append((error as? PersistentStoreError)?.code) }
        #expect(errors == [nil, .unknownConfiguration])
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test func `a container without a model says so`() {
        let container = NSPersistentContainer(name: "NoSuchModel")
        var codes: [PersistentStoreError.Code?] = []
        container.loadPersistentStores { _, error in codes.append((error as? PersistentStoreError)?.code) }
        #expect(codes == [.withoutModel])
    }

    @Test func `a description has Core Data's options`() {
        let description = description("Catalog")
        #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
        #expect(!description.isReadOnly)
        description.isReadOnly = true
        description.shouldMigrateStoreAutomatically = false
        description.setOption(NSNumber(value: false), forKey: NSPersistentHistoryTrackingKey)
        #expect(description.options[NSReadOnlyPersistentStoreOption] as? Bool == true)
        #expect(!description.shouldMigrateStoreAutomatically && description.options.count == 4)
        description.setOption(nil, forKey: NSPersistentHistoryTrackingKey)
        #expect(description.options.count == 3)
    }
}
