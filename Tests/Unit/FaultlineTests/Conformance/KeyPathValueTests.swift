import Faultline
import Testing

/// Values by key path, with the names of SwiftData: the same as those of the properties.
@Suite(.timeLimit(.minutes(2))) struct KeyPathValueTests {
    /// Sets a property by its key path in one object, and reads it in another one as the property and by key path.
    private func check<M: PersistentModel, V: Codable & Equatable>(
        _ keyPath: ReferenceWritableKeyPath<M, V>, _ value: V, _ written: M, _ direct: M,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        written.setValue(forKey: keyPath, to: value)
        direct[keyPath: keyPath] = value
        #expect(written[keyPath: keyPath] == value, sourceLocation: sourceLocation)
        #expect(direct.getValue(forKey: keyPath) == value, sourceLocation: sourceLocation)
        #expect(written.getTransformableValue(forKey: keyPath) == value, sourceLocation: sourceLocation)
    }

    @Test func `attributes of all types`() throws {
        let store = try TestStore(Scalars.self)
        let context = store.context()
        let (written, direct) = (Scalars(), Scalars())
        context.insert(written)
        context.insert(direct)
        check(\.bool, true, written, direct)
        check(\.int, -5, written, direct)
        check(\.int8, -8, written, direct)
        check(\.int16, -16, written, direct)
        check(\.int32, -32, written, direct)
        check(\.int64, .min, written, direct)
        check(\.uint, .max, written, direct)
        check(\.uint8, .max, written, direct)
        check(\.uint16, .max, written, direct)
        check(\.uint32, .max, written, direct)
        check(\.uint64, .max, written, direct)
        check(\.float, 0.25, written, direct)
        check(\.double, 0.125, written, direct)
        check(\.string, "text", written, direct)
        check(\.date, Date(timeIntervalSinceReferenceDate: 7), written, direct)
        check(\.uuid, UUID(), written, direct)
        check(\.url, URL(filePath: "/tmp/a"), written, direct)
        check(\.decimal, Decimal(string: "12.5") ?? 0, written, direct)
        check(\.data, Data([1, 2, 3]), written, direct)
        check(\.rank, .high, written, direct)
        check(\.color, .blue, written, direct)
        check(\.place, Place(city: "Paris", position: .init(x: 1, y: 2), tags: ["a"]), written, direct)
        check(\.shape, .named("s", [1]), written, direct)
        check(\.numbers, [1, 2], written, direct)
        check(\.dictionary, ["a": 1], written, direct)
        try context.save()
        try store.reopen()
        let stored = try store.context().fetch(FetchDescriptor<Scalars>())
        #expect(stored.count == 2)
        for object in stored {
            #expect(object.getValue(forKey: \.uint64) == .max && object.getValue(forKey: \.rank) == .high)
            #expect(object.getValue(forKey: \.place).city == "Paris" && object.getValue(forKey: \.numbers) == [1, 2])
        }
    }

    @Test func `optional attributes, with values and without`() throws {
        let store = try TestStore(Optionals.self)
        let context = store.context()
        let (written, direct) = (Optionals(), Optionals())
        context.insert(written)
        context.insert(direct)
        for isNil in [false, true] {
            check(\.bool, isNil ? nil : true, written, direct)
            check(\.int, isNil ? nil : 4, written, direct)
            check(\.uint64, isNil ? nil : .max, written, direct)
            check(\.string, isNil ? nil : "text", written, direct)
            check(\.url, isNil ? nil : URL(filePath: "/tmp/a"), written, direct)
            check(\.data, isNil ? nil : Data([1]), written, direct)
            check(\.rank, isNil ? nil : .high, written, direct)
            check(\.color, isNil ? nil : .green, written, direct)
            check(\.place, isNil ? nil : Place(), written, direct)
            check(\.shape, isNil ? nil : .circle(radius: 2), written, direct)
            check(\.numbers, isNil ? nil : [], written, direct)
            check(\.preset, isNil ? nil : 7, written, direct)
            try context.save()
        }
    }

    @Test func `relationships with their inverses`() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let (folder, document, label) = (Folder("f"), Document("d"), Label("l"))
        context.insert(folder)
        document.setValue(forKey: \.folder, to: folder)
        #expect(folder.documents == [document] && folder.getValue(forKey: \.documents) == [document])
        #expect(document.getValue(forKey: \.folder) === folder && document.modelContext === context)
        document.setValue(forKey: \.labels, to: [label])
        #expect(label.documents == [document] && label.getValue(forKey: \.documents) == [document])
        try context.save()
        document.setValue(forKey: \.folder, to: nil)
        #expect(folder.documents.isEmpty && document.hasChanges)
        folder.setValue(forKey: \.documents, to: [document])
        #expect(document.folder === folder)
        try context.save()
        // In no context, too.
        let (other, loose) = (Folder("o"), Document("l"))
        other.setValue(forKey: \.documents, to: [loose])
        #expect(loose.getValue(forKey: \.folder) === other)
        // Through the overloads for values of any type.
        #expect(document.getTransformableValue(forKey: \.folder) === folder)
        #expect(folder.getTransformableValue(forKey: \.documents) == [document])
        document.setTransformableValue(forKey: \.folder, to: nil)
        #expect(folder.documents.isEmpty)
        folder.setTransformableValue(forKey: \.documents, to: [document])
        document.setTransformableValue(forKey: \.folder, to: other)
        #expect(document.folder === other && folder.documents.isEmpty)
    }

    @Test func `a required target, and models that are Codable`() throws {
        let store = try TestStore(CodedOwner.self)
        let context = store.context()
        let (owner, part, second) = (CodedOwner(CodedPart("a")), CodedPart("b"), CodedPart("c"))
        context.insert(owner)
        #expect(owner.getValue(forKey: \.required).name == "a")
        owner.setValue(forKey: \.required, to: part)
        owner.setValue(forKey: \.parts, to: [part, second])
        owner.setValue(forKey: \.more, to: [second])
        #expect(owner.required === part && owner.getValue(forKey: \.parts) == [part, second])
        #expect(owner.getValue(forKey: \.more) == [second] && part.owner === owner)
        try context.save()
        #expect(owner.getTransformableValue(forKey: \.required) === part)
        owner.setTransformableValue(forKey: \.more, to: nil)
        #expect(owner.more == [])
    }

    @Test func `a fault is loaded, changes are marked, and observers are told`() throws {
        let store = try TestStore(Folder.self)
        let writing = store.context()
        writing.insert(Folder("a"))
        try writing.save()
        let context = store.context()
        let folder = try #require(try context.fetch(FetchDescriptor<Folder>()).first)
        let faults = context.counters.faultsFired
        #expect(folder.getValue(forKey: \.name) == "a" && context.counters.faultsFired == faults + 1)
        #expect(!folder.hasChanges)
        let told = Told()
        withObservationTracking {
            _ = folder.getValue(forKey: \.name)
        } onChange: {
            told.count += 1
        }
        folder.setValue(forKey: \.name, to: "b")
        #expect(told.count == 1 && folder.hasChanges && context.changedModelsArray.count == 1)
        context.rollback()
        #expect(folder.getValue(forKey: \.name) == "a")
    }

    // Safe because one thread at a time uses it.
    private final class Told: @unchecked Sendable {
        var count = 0
    }

    @Test func `ephemeral values, and properties whose setter is hidden`() throws {
        let store = try TestStore(Hidden.self)
        let context = store.context()
        let hidden = Hidden()
        context.insert(hidden)
        #expect(hidden.getValue(forKey: \.draft) == "none" && hidden.getValue(forKey: \.count) == 1)
        hidden.setValue(forKey: \.draft, to: "some")
        hidden.setValue(forKey: \.count, to: 2)
        #expect(hidden.draft == "some" && hidden.count == 2)
        try context.save()
        #expect(try store.context().fetch(FetchDescriptor<Hidden>()).first?.count == 2)
    }

    @Test(arguments: [false, true])
    func `properties of superclasses and subclasses`(isInContext: Bool) throws {
        let store = try TestStore(
            Trip.self, BusinessTrip.self, ConferenceTrip.self, PrivateTrip.self, Traveller.self, Agency.self)
        let context = store.context()
        let trip = ConferenceTrip(name: "a", company: "b", talk: "c")
        if isInContext { context.insert(trip) }
        let (traveller, agency) = (Traveller("t"), Agency("g"))
        trip.setValue(forKey: \.name, to: "n")
        trip.setValue(forKey: \.company, to: "m")
        trip.setValue(forKey: \.talk, to: "k")
        trip.setValue(forKey: \.agency, to: agency)
        trip.setValue(forKey: \.draft, to: "e")
        (trip as Trip).setValue(forKey: \.traveller, to: traveller)
        (trip as BusinessTrip).setValue(forKey: \.cost, to: 9)
        #expect((trip.name, trip.company, trip.talk) == ("n", "m", "k"))
        #expect(trip.agency === agency && agency.bookings == [trip] && trip.cost == 9 && trip.draft == "e")
        #expect(trip.getValue(forKey: \.traveller) === traveller && traveller.trips == [trip])
        #expect((trip as Trip).getValue(forKey: \.name) == "n" && trip.getValue(forKey: \.company) == "m")
        let other = PrivateTrip(name: "p")
        if isInContext { context.insert(other) }
        other.setValue(forKey: \.cost, to: 3)
        other.setValue(forKey: \.mood, to: "bad")
        #expect(other.cost == 3 && other.getValue(forKey: \.mood) == "bad")
    }

    @Test func `a key path that names no stored property is refused`() throws {
        let store = try TestStore(Scalars.self, Folder.self)
        let context = store.context()
        let told = Told()
        context.errorHandler = { if SwiftDataError.unsupportedKeyPath ~= $0 { told.count += 1 } }
        let scalars = Scalars()
        context.insert(scalars)
        try context.save()
        #expect(scalars.getValue(forKey: \.scratch) == 0 && told.count == 1)
        #expect(scalars.getValue(forKey: \.string.count) == 0 && told.count == 2)
        #expect(scalars.getTransformableValue(forKey: \.hashValue) == 0 && told.count == 3)
        try context.save()
        scalars.setValue(forKey: \.scratch, to: 9)
        #expect(scalars.scratch == 7 && told.count == 4)
        #expect(throws: SwiftDataError.unsupportedKeyPath) { try context.save() }
        try context.save()
        let folder = Folder("f")
        context.insert(folder)
        #expect(folder.getValue(forKey: \.parent?.parent) == nil)
        #expect(folder.getValue(forKey: \.reversed) == [])
        folder.setValue(forKey: \.reversed, to: [folder])
        #expect(throws: SwiftDataError.unsupportedKeyPath) { try context.save() }
        // In no context: the save after the insertion throws.
        let loose = Folder("l")
        loose.setValue(forKey: \.reversed, to: [])
        context.insert(loose)
        #expect(throws: SwiftDataError.unsupportedKeyPath) { try context.save() }
    }
}

extension Folder {
    fileprivate var reversed: [Folder] { folders.reversed() }
}

@Model private final class Hidden {
    private(set) var count: Int = 1
    @Attribute(.ephemeral) var draft: String = "none"

    init() {}
}

@Model final class CodedPart: Codable {
    var name: String
    var owner: CodedOwner?

    init(_ name: String) { self.name = name }

    convenience init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

@Model final class CodedOwner {
    @Relationship var required: CodedPart
    @Relationship(inverse: \CodedPart.owner) var parts: [CodedPart] = []
    @Relationship var more: [CodedPart]?

    init(_ required: CodedPart) { self.required = required }
}
