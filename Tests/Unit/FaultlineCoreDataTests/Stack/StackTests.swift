import FaultlineCoreData
import FaultlineTestSupport
import Foundation
import Testing

/// The stack by hand: model, coordinator, two stores, context.
@Suite(.timeLimit(.minutes(2))) struct StackTests {
    private let folder = TemporaryDirectory()

    private func url(_ name: String) -> URL {
        URL(filePath: folder.path).appending(path: "\(name).store", directoryHint: .isDirectory)
    }

    private func coordinator(_ model: NSManagedObjectModel = LibraryModel.code) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: "Catalog", at: url("catalog"), options: nil)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: "Session", at: url("session"), options: nil)
        return coordinator
    }

    private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func insert(_ name: String, into context: NSManagedObjectContext) -> NSManagedObject {
        NSEntityDescription.insertNewObject(forEntityName: name, into: context)
    }

    private func all(_ name: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name))
    }

    private func code(_ body: () throws -> some Any) -> PersistentStoreError.Code? {
        do { _ = try body() } catch let error as PersistentStoreError {
            #expect(error.message.count > 50 && error.description == error.message)
            return error.code
        } catch { Issue.record("\(error)") }
        return nil
    }

    /// The steps of the published stack, from the file of the model.
    @Test func `a model from a file, two stores and one context`() throws {
        let modelURL = try LibraryModel.write(into: folder.path)
        let model = try NSManagedObjectModel(contentsOf: modelURL)
        #expect(model.configurations == ["Catalog", "Session"])
        #expect(model.entities(forConfigurationName: "Session")?.map(\.name) == ["Visit"])
        #expect(model.entities(forConfigurationName: "Other") == nil)
        let coordinator = try coordinator(model)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        #expect(context.persistentStoreCoordinator === coordinator)

        let book = insert("Book", into: context)
        book.setValue("Emma", forKey: "title")
        let author = insert("Author", into: context)
        author.setValue("Austen", forKey: "name")
        book.setValue(author, forKey: "author")
        let visit = insert("Visit", into: context)
        visit.setValue(1, forKey: "code")
        #expect(context.hasChanges && book.managedObjectContext === context && visit.managedObjectContext === context)
        try context.save()
        #expect(!context.hasChanges)

        for store in coordinator.persistentStores { try coordinator.remove(store) }
        let again = self.context(try self.coordinator(model))
        #expect(try all("Book", again).first?.value(forKeyPath: "author.name") as? String == "Austen")
        #expect(try all("Visit", again).map { $0.value(forKey: "code") as? Int } == [1])
        #expect(model.fingerprint == Schema(entities: model.entities).fingerprint)
    }

    @Test func `stores have names, places, types and identifiers`() throws {
        let coordinator = try coordinator()
        let (catalog, session) = (coordinator.persistentStores[0], coordinator.persistentStores[1])
        #expect(coordinator.persistentStore(for: url("session")) === session)
        #expect(coordinator.persistentStore(for: url("other")) == nil)
        #expect(coordinator.url(for: catalog) == url("catalog") && !catalog.isReadOnly)
        #expect(catalog.configurationName == "Catalog" && session.configurationName == "Session")
        #expect(coordinator.metadata(for: session)[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        #expect(coordinator.metadata(for: session)[NSStoreUUIDKey] as? String == session.identifier)
        let context = context(coordinator)
        let (book, visit) = (insert("Book", into: context), insert("Visit", into: context))
        book.setValue("Emma", forKey: "title")
        try context.save()
        #expect(book.objectID.storeIdentifier == catalog.identifier)
        #expect(visit.objectID.storeIdentifier == session.identifier)
        #expect(try ModelContext(session.container).count(for: FetchRequest(entityName: "Visit")) == 1)
    }

    @Test func `identifiers go through URLs`() throws {
        let coordinator = try coordinator()
        let context = context(coordinator)
        let visit = insert("Visit", into: context)
        #expect(coordinator.managedObjectID(forURIRepresentation: visit.objectID.uriRepresentation()) == nil)
        try context.save()
        let uri = visit.objectID.uriRepresentation()
        #expect(uri.scheme == "x-coredata")
        let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
        #expect(id == visit.objectID)
        #expect(try context.existingObject(with: id) === visit)
        for text in [
            "x-coredata://\(coordinator.persistentStores[0].identifier)/Visit/p1", "http://a/Visit/p1",
            "x-coredata://a/b",
        ] {
            #expect(coordinator.managedObjectID(forURIRepresentation: try #require(URL(string: text))) == nil)
        }
        let other = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.code)
        #expect(other.managedObjectID(forURIRepresentation: uri) == nil)
    }

    @Test func `a context sees stores that come later, and lets those go that are removed`() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.code)
        let context = context(coordinator)
        #expect(throws: SwiftDataError.unknownSchema) { try all("Visit", context) }
        let session = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: "Session", at: nil, options: nil)
        let visit = insert("Visit", into: context)
        visit.setValue(1, forKey: "code")
        try context.save()
        #expect(throws: SwiftDataError.unknownSchema) { try all("Book", context) }
        // All that no other store has.
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        insert("Book", into: context).setValue("Emma", forKey: "title")
        try context.save()
        #expect(try all("Book", context).count == 1)

        visit.setValue(2, forKey: "code")
        try coordinator.remove(session)
        #expect(coordinator.persistentStores.count == 1)
        #expect(throws: SwiftDataError.unknownSchema) { try all("Visit", context) }
        #expect(visit.managedObjectContext == nil && !context.hasChanges)
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(error == .missingModelContext && error?.explanation.contains("Session") == true)
        try context.save()
        #expect(code { try coordinator.remove(session) } == .foreignStore)
    }

    @Test func `a store that comes later has the settings of its context, and a pinned context does not see it`() throws
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.code)
        let context = context(coordinator)
        context.uniquenessConflicts = .error
        context.author = "reader"
        context.undoManager = UndoManager()
        let session = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: "Session", at: nil)
        insert("Visit", into: context).setValue(1, forKey: "code")
        try context.save()
        #expect(context.undoManager?.undoCount == 1)
        let saves = try ModelContext(session.container).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(saves.map(\.author) == ["reader"])
        insert("Visit", into: context).setValue(1, forKey: "code")
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.rollback()

        try context.pin()
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: "Catalog", at: nil)
        #expect(throws: SwiftDataError.unknownSchema) { try all("Book", context) }
        context.unpin()
        #expect(try all("Book", context).isEmpty)
    }

    @Test func `a context takes another coordinator, and one of a container does not`() throws {
        let (first, second) = (
            NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.code),
            NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.code)
        )
        for coordinator in [first, second] {
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        }
        let context = context(first)
        insert("Visit", into: context).setValue(1, forKey: "code")
        try context.save()
        context.persistentStoreCoordinator = second
        #expect(try all("Visit", context).isEmpty)
        context.persistentStoreCoordinator = nil
        #expect(throws: SwiftDataError.unknownSchema) { try all("Visit", context) }

        let own = ModelContext(first.container)
        #expect(own.persistentStoreCoordinator == nil)
        #expect(try all("Visit", own).count == 1)
        own.persistentStoreCoordinator = second
        #expect(throws: SwiftDataError.missingModelContext) { try own.save() }
    }

    @Test func `stores that cannot be are refused`() throws {
        let coordinator = try coordinator()
        func add(_ type: String, _ name: String?, _ url: URL?, _ options: [AnyHashable: Any]? = nil) throws {
            try coordinator.addPersistentStore(ofType: type, configurationName: name, at: url, options: options)
        }
        #expect(code { try add("XML", nil, url("x")) } == .unknownType)
        #expect(code { try add(NSSQLiteStoreType, nil, nil) } == .withoutURL)
        #expect(code { try add(NSSQLiteStoreType, "Other", url("x")) } == .unknownConfiguration)
        #expect(code { try add(NSInMemoryStoreType, nil, nil, ["journal_mode": "WAL"]) } == .unknownOption)
        #expect(
            code { try add(NSInMemoryStoreType, nil, nil, [NSReadOnlyPersistentStoreOption: "x"]) } == .unknownOption)
        for (name, expected) in [
            ("Catalog", SwiftDataError.duplicateConfiguration), ("Session", .duplicateConfiguration),
        ] {
            #expect(throws: expected) { try add(NSSQLiteStoreType, name, url("other")) }
        }
        let error = #expect(throws: SeveralStoresError.self) { try add(NSInMemoryStoreType, nil, nil) }
        #expect(error?.code == .storeWithoutEntities)
        #expect(coordinator.persistentStores.count == 2)

        let model = LibraryModel.code
        model.setEntities([try #require(model.entitiesByName["Book"])], forConfigurationName: "Books")
        let across = NSPersistentStoreCoordinator(managedObjectModel: model)
        let refusal = #expect(throws: SeveralStoresError.self) {
            try across.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: "Books", at: nil)
        }
        #expect(refusal?.code == .relationshipAcrossStores && refusal?.message.contains("Author") == true)
        try across.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: "Catalog", at: nil)
        let twice = #expect(throws: SeveralStoresError.self) {
            try across.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: "Books", at: nil)
        }
        #expect(twice?.code == .entityInTwoStores)
    }

    @Test func `a database of SQLite is refused with the command that imports it`() throws {
        let file = URL(filePath: "\(folder.path)/library.sqlite")
        try Data("SQLite format 3\0 and more".utf8).write(to: file)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.code)
        let error = #expect(throws: PersistentStoreError.self) {
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
        }
        #expect(error?.code == .isSQLite)
        #expect(error?.message.contains("faultline import \(file.path)") == true)
        // It is as it was.
        #expect(try Data(contentsOf: file).count == 25)
    }

    @Test func `a store of an older model is migrated if the options allow it`() throws {
        do {
            let context = context(try coordinator())
            insert("Visit", into: context).setValue(1, forKey: "code")
            try context.save()
        }
        let model = LibraryModel.code
        model.entitiesByName["Visit"]?.storedProperties.append(Schema.Attribute(name: "note", valueType: String?.self))
        let newer = NSPersistentStoreCoordinator(managedObjectModel: model)
        func add(_ options: [AnyHashable: Any]?) throws {
            try newer.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: "Session", at: url("session"), options: options)
        }
        #expect(code { try add(nil) } == .migrationIsDue)
        #expect(code { try add([NSMigratePersistentStoresAutomaticallyOption: true]) } == .migrationIsDue)
        try add([
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            NSPersistentHistoryTrackingKey: NSNumber(value: true),
        ])
        let context = context(newer)
        let visit = try #require(try all("Visit", context).first)
        visit.setValue("late", forKey: "note")
        try context.save()
        #expect(visit.value(forKey: "code") as? Int == 1)
        try newer.remove(newer.persistentStores[0])
        let reading = try newer.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: "Session", at: url("session"),
            options: [NSReadOnlyPersistentStoreOption: true])
        #expect(reading.isReadOnly)
        try all("Visit", context).first?.setValue("x", forKey: "note")
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }

    @Test func `rules of both stores hold before one is saved`() throws {
        let coordinator = try coordinator()
        let (first, second) = (context(coordinator), context(coordinator))
        second.uniquenessConflicts = .error
        insert("Visit", into: first).setValue(1, forKey: "code")
        try first.save()
        insert("Book", into: second).setValue("Emma", forKey: "title")
        let visit = insert("Visit", into: second)
        visit.setValue(1, forKey: "code")
        let error = #expect(throws: SwiftDataError.self) { try second.save() }
        #expect(error?.findings.map(\.rule) == [.unique])
        #expect(try all("Book", first).isEmpty)
        visit.setValue(2, forKey: "code")
        try second.save()
        #expect(try all("Book", first).count == 1 && all("Visit", first).count == 2)
    }

    @Test func `stores are closed with the last of coordinator and contexts`() throws {
        weak var store: NSPersistentStore?
        weak var container: ModelContainer?
        var context: NSManagedObjectContext?
        do {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.code)
            let added = try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: "Session", at: nil)
            (store, container) = (added, added.container)
            context = self.context(coordinator)
        }
        #expect(store != nil && container != nil)
        #expect(try context.map { try all("Visit", $0).count } == 0)
        context = nil
        #expect(store == nil && container == nil)
    }
}
