import Faultline
import FaultlineTestSupport
import Foundation
import Testing

/// Primary keys: numbers of objects that may come from a client.
@Suite struct PrimaryKeyTests {
    private let store: TestStore

    init() throws { store = try .ofDocuments(3) }

    @Test func `an object is found by its primary key in another context`() throws {
        let document = try store.context().first(Document.self)
        let key = try #require(document.persistentModelID.primaryKey)
        let context = store.context()
        let found: Document? = try context.existing(primaryKey: key)
        #expect(found?.persistentModelID == document.persistentModelID)
        #expect(found?.title == document.title)
    }

    @Test(arguments: [0, 4, 1 << 40, UInt64.max >> 16, .max])
    func `a number that no object has leads to nothing`(key: UInt64) throws {
        let context = store.context()
        #expect(try context.existing(primaryKey: key, as: Document.self) == nil)
        try context.save()
    }

    @Test func `a primary key leads to objects of its class only`() throws {
        let document = try store.context().first(Document.self)
        let key = try #require(document.persistentModelID.primaryKey)
        #expect(try store.context().existing(primaryKey: key, as: Folder.self) == nil)
    }

    @Test func `a class or an entity that the container lacks is refused, and not called missing`() throws {
        let context = store.context()
        #expect(throws: SwiftDataError.unknownSchema) { try context.existing(primaryKey: 1, as: Ranked.self) }
        #expect(throws: SwiftDataError.unknownSchema) { try context.existing(primaryKey: 1, as: ManagedObject.self) }
        #expect(throws: SwiftDataError.unknownSchema) { try context.existing(primaryKey: 1, entityName: "Nothing") }
    }

    @Test func `an object of a class is found by the name of its entity`() throws {
        let document = try store.context().first(Document.self)
        let key = try #require(document.persistentModelID.primaryKey)
        let found = try store.context().existing(primaryKey: key, entityName: "Document")
        #expect(found?.model is Document && found?.objectID == document.persistentModelID)
    }

    @Test func `an object without a class is found by the name of its entity`() throws {
        let dynamic = try DynamicStore()
        let context = ModelContext(dynamic.container)
        let department = try context.insertNewObject(forEntityName: "Department")
        department.setValue("d", forKey: "name")
        try context.save()
        let key = try #require(department.objectID.primaryKey)
        let fresh = ModelContext(dynamic.container)
        let found = try #require(try fresh.existing(primaryKey: key, entityName: "Department"))
        #expect(found.value(forKey: "name") as? String == "d")
        #expect(try fresh.existing(primaryKey: key + 1, entityName: "Department") == nil)
        #expect(try fresh.existing(primaryKey: key, entityName: "Person") == nil)
    }

    @Test func `deleted and unsaved objects have no place under a primary key`() throws {
        let context = store.context()
        let document = try context.first(Document.self)
        let key = try #require(document.persistentModelID.primaryKey)
        context.delete(document)
        #expect(try context.existing(primaryKey: key, as: Document.self) == nil)
        try context.save()
        #expect(try context.existing(primaryKey: key, as: Document.self) == nil)
        let new = Document("new", number: 9)
        context.insert(new)
        #expect(new.persistentModelID.primaryKey == nil)
        try context.save()
        #expect(new.persistentModelID.primaryKey == 4)
    }

    @Test func `an object that another context has added is found`() throws {
        let context = store.context()
        _ = try context.first(Document.self)
        let other = store.context()
        let document = Document("late", number: 9)
        other.insert(document)
        try other.save()
        let key = try #require(document.persistentModelID.primaryKey)
        #expect(try context.existing(primaryKey: key, as: Document.self)?.title == "late")
    }

    @Test func `an identifier is made from its parts`() throws {
        let known = try store.context().first(Document.self).persistentModelID
        let place = try #require(known.storeIdentifier)
        let key = try #require(known.primaryKey)
        let made = try PersistentIdentifier.identifier(for: place, entityName: "Document", primaryKey: key)
        #expect(made == known)
        let text = try PersistentIdentifier.identifier(for: place, entityName: "Document", primaryKey: "\(key)")
        #expect(try store.context().existing(text, as: Document.self)?.persistentModelID == known)
    }

    @Test(arguments: ["", "x", "00000000000000000000000000000000", "é"])
    func `an identifier of no store is refused`(place: String) throws {
        let error = #expect(throws: SwiftDataError.self) {
            try PersistentIdentifier.identifier(for: place, entityName: "Document", primaryKey: 1)
        }
        #expect(error == .unknownSchema && error?.explanation.contains("storeIdentifier") == true)
    }

    @Test(arguments: ["0", "-1", "+1", "01", "1.5", "", "18446744073709551616", "18446744073709551615"])
    func `an identifier of no object is refused`(key: String) throws {
        let place = try #require(try store.context().first(Document.self).persistentModelID.storeIdentifier)
        let error = #expect(throws: SwiftDataError.self) {
            try PersistentIdentifier.identifier(for: place, entityName: "Document", primaryKey: key)
        }
        #expect(error?.explanation.contains("primaryKey") == true)
        #expect(throws: SwiftDataError.unknownSchema) {
            try PersistentIdentifier.identifier(
                for: place, entityName: String(repeating: "x", count: 4_097), primaryKey: 1)
        }
    }
}
