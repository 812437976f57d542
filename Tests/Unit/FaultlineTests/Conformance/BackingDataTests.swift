import Faultline
import Testing

/// Backing data of objects, of no object, and of other types.
@Suite(.timeLimit(.minutes(2))) struct BackingDataTests {
    @Test func `backing data of an object reads and sets its properties`() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let document = Document("a", number: 1)
        context.insert(document)
        try context.save()
        let values = document.persistentBackingData
        #expect(values.persistentModelID == document.persistentModelID)
        #expect(values.getValue(forKey: \.title) == "a" && values.getTransformableValue(forKey: \.number) == 1)
        values.setValue(forKey: \.title, to: "b")
        values.setTransformableValue(forKey: \.number, to: 2)
        let folder = Folder("f")
        values.setValue(forKey: \.folder, to: folder)
        values.setValue(forKey: \.labels, to: [Label("l")])
        #expect(document.title == "b" && document.number == 2 && folder.documents == [document])
        #expect(values.getValue(forKey: \.folder) === folder)
        #expect(values.getValue(forKey: \.labels).map(\.text) == ["l"] && document.hasChanges)
        #expect((values.metadata as? [Schema.PropertyMetadata])?.count == 5)
        try context.save()
    }

    @Test func `backing data of no object holds values for objects to come`() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        let values: some BackingData<Document> = Document.createBackingData()
        #expect(values.persistentModelID == nil)
        #expect(values.getValue(forKey: \.number) == 0 && values.getValue(forKey: \.folder) == nil)
        values.setValue(forKey: \.title, to: "a")
        values.setValue(forKey: \.folder, to: folder)
        values.setValue(forKey: \.labels, to: [Label("l"), Label("m")])
        #expect(values.getValue(forKey: \.title) == "a" && values.getValue(forKey: \.folder) === folder)
        #expect(values.getValue(forKey: \.labels).count == 2)
        #expect(folder.documents.isEmpty)
        let document = Document(backingData: values)
        #expect(document.title == "a" && document.folder === folder && folder.documents == [document])
        // A target in a context takes the object into it.
        #expect(document.modelContext === context && document.labels.map(\.text) == ["l", "m"])
        values.setValue(forKey: \.title, to: "b")
        values.setValue(forKey: \.folder, to: nil)
        let second = Document(backingData: values)
        #expect((document.title, second.title) == ("a", "b") && second.folder == nil)
        context.insert(second)
        try context.save()
        #expect(try store.context().fetchCount(FetchDescriptor<Document>()) == 2)
        #expect(try store.context().fetchCount(FetchDescriptor<Label>()) == 2)
    }

    @Test func `backing data of no object for a class with required and Codable targets`() throws {
        let part = CodedPart("a")
        let values = ModelBackingData(for: CodedOwner.self)
        values.setValue(forKey: \.required, to: part)
        values.setValue(forKey: \.parts, to: [part])
        values.setValue(forKey: \.more, to: [CodedPart("b")])
        #expect(values.getValue(forKey: \.required) === part && values.getValue(forKey: \.parts) == [part])
        #expect(part.owner == nil)
        let owner = CodedOwner(backingData: values)
        #expect(owner.required === part && part.owner === owner && owner.more?.map(\.name) == ["b"])
    }

    @Test(arguments: [false, true])
    func `backing data of subclasses`(isInContext: Bool) throws {
        let store = try TestStore(Trip.self, ConferenceTrip.self, Traveller.self)
        let context = store.context()
        let traveller = Traveller("t")
        if isInContext { context.insert(traveller) }
        let values: some BackingData<Trip> = ConferenceTrip.createBackingData()
        values.setValue(forKey: \.name, to: "a")
        values.setValue(forKey: \.traveller, to: traveller)
        let trip = ConferenceTrip(backingData: values)
        trip.company = "b"
        trip.talk = "c"
        #expect(trip.name == "a" && trip.cost == 2.5 && trip.traveller === traveller && traveller.trips == [trip])
        context.insert(trip)
        try context.save()
        let own: some BackingData<BusinessTrip> = ConferenceTrip.createBackingData()
        own.setValue(forKey: \.company, to: "d")
        #expect(own.getValue(forKey: \.company) == "d" && own.getValue(forKey: \.days) == 1)
        // Of the superclass alone: refused, as by a copy.
        let foreign: some BackingData<Trip> = Trip.createBackingData()
        let refused = ConferenceTrip(backingData: foreign)
        (refused.name, refused.company, refused.talk) = ("x", "y", "z")
        context.insert(refused)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }

    @Test func `a key path that names no stored property is refused by the object`() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let values: some BackingData<Document> = Document.createBackingData()
        values.setValue(forKey: \.title, to: "a")
        #expect(values.getValue(forKey: \.title.count) == 0)
        values.setValue(forKey: \.title.count, to: 1)
        context.insert(Document(backingData: values))
        #expect(throws: SwiftDataError.unsupportedKeyPath) { try context.save() }
    }

    @Test func `backing data of another type gives its values`() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folder = Folder("f")
        let document = Document(backingData: ForeignDocument(title: "a", folder: folder, labels: [Label("l")]))
        #expect(document.title == "a" && document.number == 3 && document.body == nil)
        #expect(document.folder === folder && folder.documents == [document] && document.labels.map(\.text) == ["l"])
        context.insert(document)
        try context.save()
        try store.reopen()
        #expect(try store.context().fetch(FetchDescriptor<Document>()).map(\.title) == ["a"])
    }

    @Test func `an object keeps its values when it is given its own backing data`() throws {
        let (document, folder) = (Document("a"), Folder("f"))
        document.folder = folder
        document.persistentBackingData = document.persistentBackingData
        #expect(document.title == "a" && document.folder === folder)
    }
}

/// Backing data that someone else's code makes.
private struct ForeignDocument: BackingData {
    var title = ""
    var folder: Folder?
    var labels: [Label] = []
    var persistentModelID: PersistentIdentifier?
    var metadata: Any { 0 }

    init(title: String, folder: Folder?, labels: [Label]) {
        self.title = title
        self.folder = folder
        self.labels = labels
    }

    init(for modelType: Document.Type) {}

    private func given<Value>(_ value: Any) -> Value {
        guard let value = value as? Value else { fatalError("The property has another type.") }
        return value
    }

    func getValue<Value: Decodable>(forKey: KeyPath<Document, Value>) -> Value {
        given(forKey == \Document.title ? title as Any : 3)
    }
    func getValue<Value: PersistentModel>(forKey: KeyPath<Document, Value>) -> Value { fatalError("There is none.") }
    func getValue<Value: PersistentModel>(forKey: KeyPath<Document, Value?>) -> Value? {
        forKey == \Document.folder ? folder as? Value : nil
    }
    func getValue<Value: RelationshipCollection, OtherModel>(forKey: KeyPath<Document, Value>) -> Value
    where OtherModel == Value.PersistentElement { given(labels) }
    func getValue<Value: RelationshipCollection & Decodable, OtherModel>(forKey: KeyPath<Document, Value>) -> Value
    where OtherModel == Value.PersistentElement { given(labels) }
    func getTransformableValue<Value>(forKey: KeyPath<Document, Value>) -> Value { fatalError("There is none.") }

    func setValue<Value: Encodable>(forKey: KeyPath<Document, Value>, to newValue: Value) {}
    func setValue<Value: PersistentModel>(forKey: KeyPath<Document, Value>, to newValue: Value) {}
    func setValue<Value: PersistentModel>(forKey: KeyPath<Document, Value?>, to newValue: Value?) {}
    func setValue<Value: RelationshipCollection, OtherModel>(forKey: KeyPath<Document, Value>, to newValue: Value)
    where OtherModel == Value.PersistentElement {}
    func setValue<Value: RelationshipCollection & Encodable, OtherModel>(
        forKey: KeyPath<Document, Value>, to newValue: Value
    ) where OtherModel == Value.PersistentElement {}
    func setTransformableValue<Value>(forKey: KeyPath<Document, Value>, to newValue: Value) {}
}
