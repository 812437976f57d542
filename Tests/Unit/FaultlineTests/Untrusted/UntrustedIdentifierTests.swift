import Faultline
import FaultlineDisk
import FaultlineTestSupport
import Synchronization
import Testing

@ModelActor actor Librarian {
    func title(_ identifier: PersistentIdentifier) -> String? { self[identifier, as: Document.self]?.title }
    func has(_ identifier: PersistentIdentifier) -> Bool { self[identifier, as: Document.self] != nil }
}

/// Identifiers that came from a client or another process.
@Suite struct UntrustedIdentifierTests {
    private let store: TestStore

    init() throws { store = try .ofDocuments(10) }

    /// A context, and the errors that it has reported.
    private final class Reporting: Sendable {
        private let errors = Guarded<[String]>([])
        var texts: [String] { errors.withLock { $0 } }

        func listen(to context: ModelContext) {
            context.errorHandler = { [self] error in errors.withLock { $0.append("\(error)") } }
        }
    }

    @Test("A4: an identifier of an entity that the schema lacks gives a marked object that no save takes")
    func entityUnknown() throws {
        let context = store.context()
        let known = try context.first(Document.self).persistentModelID
        let reporting = Reporting()
        reporting.listen(to: context)
        let long = String(repeating: "x", count: 4_000)
        for entity in ["Secret", long, ""] {
            let identifier = try known.tampered(entity: entity)
            let object = context.model(for: identifier)
            #expect(object.isDeleted && object.modelContext == nil && !object.hasChanges)
            #expect(reporting.texts.last?.contains("unknownSchema") == true)
            #expect(reporting.texts.last?.contains("Add it to the container's schema") == true)
            #expect((reporting.texts.last?.utf8.count ?? 0) < 1_000)
            func insert<T: PersistentModel>(_ object: T) { context.insert(object) }
            insert(object)
            #expect(throws: SwiftDataError.unknownSchema) { try context.save() }
            func delete<T: PersistentModel>(_ object: T) { context.delete(object) }
            delete(object)
            context.rollback()
            try context.save()
        }
    }

    @Test("A4: an actor has no object for an identifier of nothing")
    func actorHasNone() async throws {
        let context = store.context()
        let document = try context.first(Document.self)
        let known = document.persistentModelID
        let librarian = Librarian(modelContainer: store.container)
        #expect(await librarian.title(known) == "d0")
        #expect(await librarian.has(try known.tampered(entity: "Secret")) == false)
        #expect(await librarian.has(try known.tampered(entity: "Folder")) == false)
        #expect(await librarian.has(try known.tampered(number: 11)) == false)
        #expect(await librarian.has(try known.tampered(number: 40_000_000_000)) == false)
        #expect(await librarian.has(try known.tampered(store: String(repeating: "7", count: 32))) == false)
        context.delete(document)
        let late = Document("late")
        context.insert(late)
        #expect(await librarian.has(late.persistentModelID) == false)
        try context.save()
        // The actor sees later saves.
        #expect(await librarian.title(late.persistentModelID) == "late")
        #expect(await librarian.has(known) == false)
    }

    @Test("A4: an identifier with a large number takes no memory", .enabled(if: PeakMemory.isExact))
    func largeNumber() async {
        await #expect(processExitsWith: .success) {
            let store = try TestStore(Folder.self)
            let context = store.context()
            for number in 0..<3_000 { context.insert(Document("d\(number)", number: number)) }
            try context.save()
            let held = try context.all(Document.self)
            let known = held[0].persistentModelID
            let before = PeakMemory.allocatedByteCount
            var objects: [any PersistentModel] = []
            for number in [3_001, 1 << 30, 40_000_000_000, 336 * UInt64(UInt32.max)] {
                let identifier = try known.tampered(number: number)
                objects.append(context.model(for: identifier))
                let registered: Document? = context.registeredModel(for: identifier)
                #expect(registered == nil)
            }
            #expect(PeakMemory.allocatedByteCount - before < 1 << 20)
            #expect(held.count == 3_000 && objects.count == 4)
        }
    }

    @Test("A4: a temporary identifier of another process is not equal to one of this process, and leads to nothing")
    func temporary() throws {
        let context = store.context()
        let unsaved = Document("secret")
        let sent = Document("sent")
        context.insert(unsaved)
        context.insert(sent)
        let own = unsaved.persistentModelID
        let known = sent.persistentModelID
        #expect(context.model(for: own) as? Document === unsaved)
        let changes: [(inout [String: Any]) -> Void] = [
            { $0["seal"] = nil }, { $0["seal"] = "" }, { $0["seal"] = "1234567890abcdef" },
            { $0["store"] = String(repeating: "0", count: 32) },
            { $0["store"] = String(repeating: "0", count: 31) + "1" },
        ]
        var forged = changes.compactMap { try? Tampering.decoded(own, $0) }
        // The seal of one object is none of another one.
        try forged.append(known.tampered(number: own.number))
        try forged.append(own.tampered(entity: "Other"))
        #expect(forged.count == 5)
        for decoded in forged {
            #expect(decoded != own && decoded != known && decoded.storeIdentifier == nil)
            #expect(context.model(for: decoded) as? Document !== unsaved)
            let registered: Document? = context.registeredModel(for: decoded)
            #expect(registered == nil)
            #expect(
                try context.fetchCount(
                    FetchDescriptor<Document>(predicate: #Predicate { $0.persistentModelID == decoded })) == 0)
        }
    }

    @Test func `a temporary identifier that this process encoded leads to its object until the save`() throws {
        let context = store.context()
        let unsaved = Document("new")
        context.insert(unsaved)
        let decoded = try unsaved.persistentModelID.tampered()
        #expect(decoded == unsaved.persistentModelID)
        #expect(context.model(for: decoded) as? Document === unsaved)
        let descriptor = FetchDescriptor<Document>(predicate: #Predicate { $0.persistentModelID == decoded })
        #expect(try context.fetch(descriptor).first === unsaved)
        #expect(try store.context().fetchCount(descriptor) == 0)
        try context.save()
        #expect(try unsaved.persistentModelID != decoded && context.fetchCount(descriptor) == 0)
    }

    @Test("A4: a number that the store lacks gives a marked fault: its getters report, no save takes it")
    func numberAbsent() throws {
        let context = store.context()
        let document = try context.first(Document.self)
        let reporting = Reporting()
        reporting.listen(to: context)
        let writer = store.context()
        writer.delete(try #require(try writer.all(Document.self).last))
        try writer.save()
        _ = try context.all(Document.self)
        for number in [10, 11, 40_000_000_000] as [UInt64] {
            let identifier = try document.persistentModelID.tampered(number: number)
            let absent = try #require(context.model(for: identifier) as? Document)
            #expect(absent.persistentModelID == identifier && absent.isDeleted && absent.modelContext == nil)
            let count = reporting.texts.count
            #expect(absent.title == "" && absent.folder == nil && absent.labels.isEmpty)
            #expect(reporting.texts.count == count + 3)
            #expect(reporting.texts.last?.contains("\(number)") == true)
            let uses: [(Document) -> Void] = [
                { $0.title = "x" }, { $0.labels = [Label("l")] }, { $0.labels.append(Label("l")) },
                { $0.body = Body() }, { $0.folder = Folder("f") },
                { context.insert($0) },
                {
                    let folder = Folder("f"); context.insert(folder); folder.documents = [$0]
                },
                {
                    let body = Body(); context.insert(body); body.document = $0
                },
            ]
            for (place, use) in uses.enumerated() {
                use(try #require(context.model(for: identifier) as? Document))
                #expect(throws: SwiftDataError.modelValidationFailure, "\(place)") { try context.save() }
                context.rollback()
            }
            context.delete(absent)
            try context.save()
        }
        #expect(try store.reopened().fetchCount(FetchDescriptor<Document>()) == 9)
    }

    @Test("A4: an object that got an absent number later is another one than its marked fault")
    func numberGivenLater() throws {
        let context = store.context()
        let identifier = try context.first(Document.self).persistentModelID.tampered(number: 11)
        let absent = try #require(context.model(for: identifier) as? Document)
        let writer = store.context()
        writer.insert(Document("eleven"))
        try writer.save()
        #expect(absent.title == "" && absent.isDeleted)
        let there = try #require(context.model(for: identifier) as? Document)
        #expect(there !== absent && there.title == "eleven" && !there.isDeleted)
        let fetched = try context.fetch(
            FetchDescriptor<Document>(predicate: #Predicate { $0.title == "eleven" }))
        #expect(fetched.first === there)
    }

    @Test("A4: an identifier is decoded with bounds, and as older releases wrote it")
    func decoding() throws {
        let known = try store.context().first(Document.self).persistentModelID
        let store = try #require(known.storeIdentifier)
        func decode(_ text: String) throws -> PersistentIdentifier {
            try JSONDecoder().decode(PersistentIdentifier.self, from: Data(text.utf8))
        }
        #expect(try decode(#"{"store":"\#(store)","entity":"Document","number":1}"#) == known)
        for number in ["0", "-1", "1.5", "\(336 * UInt64(UInt32.max) + 1)", "281474976710656", "\(UInt64.max)"] {
            #expect(throws: DecodingError.self, "\(number)") {
                try decode(#"{"store":"\#(store)","entity":"Document","number":\#(number)}"#)
            }
        }
        for number in ["0", "281474976710656", "\(UInt64.max)"] {
            #expect(throws: DecodingError.self, "\(number)") {
                try decode(#"{"entity":"Document","number":\#(number)}"#)
            }
        }
        let zero = String(repeating: "0", count: 32)
        for text in [zero, zero.dropLast() + "1", "7", String(repeating: "G", count: 32)] {
            #expect(throws: DecodingError.self, "\(text)") {
                try decode(#"{"store":"\#(text)","entity":"Document","number":1}"#)
            }
        }
        let long = String(repeating: "x", count: 5_000)
        #expect(throws: DecodingError.self) { try decode(#"{"store":"\#(store)","entity":"\#(long)","number":1}"#) }
    }

    @Test("A4: existing(_:) gives stored objects, and makes nothing for others")
    func existing() throws {
        let context = store.context()
        let document = try context.first(Document.self)
        let known = document.persistentModelID
        #expect(try context.existing(known, as: Document.self) === document)
        #expect(try context.existing(known) as? Document === document)
        let inferred: Document? = try context.existing(known)
        #expect(inferred === document)
        #expect(try context.existing(known, as: Folder.self) == nil)

        let unsaved = Document("new")
        #expect(try context.existing(unsaved.persistentModelID, as: Document.self) == nil)
        context.insert(unsaved)
        #expect(try context.existing(unsaved.persistentModelID, as: Document.self) === unsaved)
        #expect(try store.context().existing(unsaved.persistentModelID, as: Document.self) == nil)
        context.delete(unsaved)
        #expect(try context.existing(unsaved.persistentModelID, as: Document.self) == nil)
        context.delete(document)
        #expect(try context.existing(known, as: Document.self) == nil)
        context.rollback()
        #expect(try context.existing(known, as: Document.self) === document)

        let other = store.context()
        for wrong in [
            try known.tampered(number: 11), try known.tampered(number: 1 << 40), try known.tampered(entity: "Secret"),
            try known.tampered(entity: "Folder"), try known.tampered(store: String(repeating: "7", count: 32)),
        ] {
            #expect(try other.existing(wrong) == nil)
            let registered: Document? = other.registeredModel(for: wrong)
            #expect(registered == nil)
        }
        #expect(other.counters.rowsRead == 0)
    }

    @Test("A4: existing(_:) sees later saves, unless the context is pinned")
    func existingMovesOn() throws {
        let (context, pinned, writer) = (store.context(), store.context(), store.context())
        let held = try context.all(Document.self)
        try pinned.pin()
        let late = Document("late")
        writer.insert(late)
        try writer.save()
        let identifier = late.persistentModelID
        #expect(try context.existing(identifier, as: Document.self)?.title == "late")
        #expect(try pinned.existing(identifier) == nil)
        #expect((pinned.model(for: identifier) as? Document)?.isDeleted == true)
        #expect(held.count == 10)
    }

    @Test("A4: dynamic objects are looked up with the same rules")
    func dynamic() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let person = try context.insertNewObject(forEntityName: "Person")
        person["name"] = "Ann"
        try context.save()
        let known = person.objectID
        #expect(try context.existing(known, as: ManagedObject.self) === person)
        #expect(try context.existingObject(with: known) === person)
        for wrong in [try known.tampered(number: 2), try known.tampered(entity: "Secret")] {
            #expect(try context.existing(wrong) == nil)
            #expect(context.registeredObject(for: wrong) == nil)
            #expect(throws: SwiftDataError.missingModelContext) { try context.existingObject(with: wrong) }
        }
        #expect(context.object(with: try known.tampered(entity: "Secret")) == nil)
        let absent = try #require(context.object(with: try known.tampered(number: 2)))
        #expect(absent.isDeleted && absent["name"] == nil && absent.objectID.number == 2)
        absent["name"] = "Bob"
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        let decoded = try Tampering.decoded(person.objectID) { $0["store"] = nil }
        let filter = Filter.objectID(in: [decoded])
        #expect(try context.fetch(FetchRequest(entityName: "Person", filter: filter)).isEmpty)
        #expect(throws: (any Error).self) {
            try context.batchInsert(entityName: "Person", [["name": "x", "department": decoded]])
        }
    }
}
