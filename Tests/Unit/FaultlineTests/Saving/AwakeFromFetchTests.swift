import Faultline
import FaultlineTestSupport
import Testing

@Model final class Field {
    var width: Double
    var length: Double
    @Attribute(.ephemeral) var area = 0.0
    @Attribute(.ephemeral) var label: String?
    @Transient var calls: [String] = []
    @Transient var duty: ((Field) -> Void)?
    @Transient var saving: (() -> Void)?

    init(_ width: Double, _ length: Double) {
        self.width = width
        self.length = length
    }
}

extension Field: ObjectLifecycle {
    func awakeFromInsert() { calls.append("insert") }

    func awakeFromFetch() {
        calls.append("fetch")
        area = width * length
        duty?(self)
    }

    func willSave() { saving?() }
}

@Model final class Lot {
    enum Use: String, Codable { case none, field }

    @Attribute(.unique) var key: Int
    var width: Double
    @Attribute(.ephemeral) var area = 0.0
    @Attribute(.ephemeral) var note: String?
    @Attribute(.ephemeral) var use = Use.none

    init(_ key: Int, _ width: Double) {
        self.key = key
        self.width = width
    }
}

extension Lot: ObjectLifecycle {
    func awakeFromFetch() { area = width * 2 }
}

@Model class Barge: ObjectLifecycle {
    var name: String
    @Attribute(.ephemeral) var title = "none"

    init(_ name: String) { self.name = name }

    func awakeFromFetch() { title = "barge \(name)" }
}

@Model final class Tugboat: Barge {
    var power: Int
    @Attribute(.ephemeral) var tonnes = 0

    init(_ name: String, power: Int) {
        self.power = power
        super.init(name)
    }

    override func awakeFromFetch() {
        super.awakeFromFetch()
        tonnes = power * 2
    }
}

/// Ephemeral values that are computed from stored ones.
@Suite struct AwakeFromFetchTests {
    private let store: TestStore

    init() throws {
        store = try TestStore(Field.self)
        let context = store.context()
        context.insert(Field(2, 3))
        context.insert(Field(4, 5))
        try context.save()
    }

    private func field(_ context: ModelContext, width: Double = 2) throws -> Field {
        let descriptor = FetchDescriptor<Field>(predicate: #Predicate { $0.width == width })
        return try #require(try context.fetch(descriptor).first)
    }

    @Test func `C17 (otherwise): values are computed before the first read, once`() throws {
        let field = try field(store.context())
        #expect(field.calls.isEmpty)
        #expect(field.area == 6 && field.label == nil && field.area == 6)
        #expect(field.calls == ["fetch"])
    }

    @Test func `C19 (otherwise): no code is called when the values of objects are let go`() throws {
        let context = store.context()
        let field = try field(context)
        #expect(field.width == 2)
        context.core.forgetRows()
        #expect(field.calls.isEmpty && field.width == 2)
    }

    @Test func `values are computed before one is set, and a value that was set stays`() throws {
        let field = try field(store.context())
        field.label = "north"
        #expect(field.calls == ["fetch"] && field.area == 6 && field.label == "north")
        field.area = 7
        #expect(field.area == 7 && field.calls == ["fetch"])
    }

    @Test func `a new object is called for its insertion only`() throws {
        let context = store.context()
        let field = Field(1, 1)
        field.area = 9
        context.insert(field)
        try context.save()
        #expect(field.area == 9 && field.calls == ["insert"])
    }

    @Test func `a refresh without merging computes the values anew`() throws {
        let context = store.context()
        let field = try field(context)
        #expect(field.area == 6)
        field.width = 10
        #expect(field.area == 6)
        try context.save()
        context.refresh(field, mergeChanges: true)
        #expect(field.area == 6)
        context.refresh(field, mergeChanges: false)
        #expect(field.area == 30 && field.calls == ["fetch", "fetch"])
    }

    @Test func `predicates and orders use the computed values`() throws {
        let context = store.context()
        let large = FetchDescriptor<Field>(predicate: #Predicate { $0.area > 10 })
        #expect(try context.fetch(large).map(\.width) == [4])
        let ordered = FetchDescriptor<Field>(sortBy: [SortDescriptor(\.area, order: .reverse)])
        #expect(try store.context().fetch(ordered).map(\.width) == [4, 2])
    }

    @Test func `key paths and names compute the values too`() throws {
        #expect(try field(store.context()).getValue(forKey: \.area) == 6)
        let keyed = try field(store.context())
        keyed.setValue(forKey: \.label, to: "east")
        #expect(keyed.area == 6 && keyed.label == "east")
        let named = try #require(
            try store.context().fetch(FetchRequest(entityName: "Field", filter: Filter.key("width") == 4.0)).first)
        #expect(named["area"] as? Double == 20)
        #expect((named.model as? Field)?.calls == ["fetch"])
    }

    @Test func `the code may neither save, insert, delete nor refresh`() throws {
        let context = store.context()
        let field = try field(context)
        field.duty = {
            #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
            context.insert(Field(8, 8))
            context.delete($0)
            context.refresh($0, mergeChanges: false)
        }
        #expect(field.area == 6)
        #expect(!context.hasChanges)
        #expect { try context.save() } throws: { "\($0)".contains("an object's awakeFromFetch") }
        try context.save()
        field.duty = nil
        context.insert(Field(8, 8))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Field>()) == 3)
    }

    @Test func `a deleted object and one without a context are not called`() throws {
        let context = store.context()
        let gone = try field(context)
        context.delete(gone)
        try context.save()
        #expect(gone.area == 0 && gone.calls.isEmpty)
        let alone = Field(6, 6)
        #expect(alone.area == 0 && alone.calls.isEmpty)
    }

    @Test func `classes of a hierarchy compute the values of each level`() throws {
        let store = try TestStore(Barge.self, Tugboat.self)
        let context = store.context()
        context.insert(Barge("Anna"))
        context.insert(Tugboat("Berta", power: 30))
        try context.save()
        let barges = try store.context().fetch(FetchDescriptor<Barge>(sortBy: [SortDescriptor(\.name)]))
        #expect(barges.map(\.title) == ["barge Anna", "barge Berta"])
        let tugboat = try #require(try store.context().fetch(FetchDescriptor<Tugboat>()).first)
        #expect(tugboat.tonnes == 60 && tugboat.title == "barge Berta")
    }

    @Test func `an entity without a class has the hook in its context`() throws {
        let entity = Schema.Entity(
            "Plot", subentities: [],
            properties: [
                Schema.Attribute(name: "width", valueType: Double.self),
                Schema.Attribute(name: "area", options: [.ephemeral], valueType: Double.self, defaultValue: 0.0),
            ])
        let container = try ModelContainer(
            for: Schema(entities: [entity]), configurations: [ModelConfiguration(isStoredInMemoryOnly: true)])
        let writer = ModelContext(container)
        try writer.insertNewObject(forEntityName: "Plot").setValue(3.0, forKey: "width")
        try writer.save()
        let context = ModelContext(container)
        var hooks = EntityLifecycle()
        hooks.awakeFromFetch = { $0["area"] = ($0["width"] as? Double ?? 0) * 2 }
        context.setLifecycle(hooks, forEntityNamed: "Plot")
        let plot = try #require(try context.fetch(FetchRequest(entityName: "Plot")).first)
        #expect(plot["area"] as? Double == 6)
        plot["area"] = 8.0
        #expect(plot["area"] as? Double == 8 && !context.hasChanges)
    }

    @Test func `an object whose row an upsert replaces computes its values from the new row`() throws {
        let store = try TestStore(Lot.self)
        let context = store.context()
        context.insert(Lot(1, 3))
        try context.save()
        let reader = store.context()
        let old = try reader.first(Lot.self)
        #expect(old.area == 6)
        let new = Lot(1, 5)
        reader.insert(new)
        try reader.save()
        #expect(old.width == 5 && old.area == 10 && new.area == 10)
    }

    @Test func `an alias is called as the object that has its row`() throws {
        let store = try TestStore(Lot.self)
        let context = store.context()
        context.insert(Lot(1, 3))
        try context.save()
        let reader = store.context()
        let (old, new) = (try reader.first(Lot.self), Lot(1, 5))
        reader.insert(new)
        try reader.save()
        new.note = "first use"
        #expect(old.area == 10 && old.note == "first use")
    }

    @Test func `an object that undo brings back has its computed values`() throws {
        let context = store.context()
        context.undoManager = UndoManager()
        let field = try field(context)
        #expect(field.area == 6)
        context.delete(field)
        try context.save()
        context.undoManager?.undo()
        let back = try self.field(context)
        #expect(back.area == 6)
        try context.save()
        #expect(back.area == 6)
    }

    @Test func `values by name have the declared type`() throws {
        let context = store.context()
        let field = try field(context)
        let named = try #require(
            try context.fetch(FetchRequest(entityName: "Field", filter: Filter.key("width") == 2.0)).first)
        named["area"] = 7
        #expect(field.area == 7 && named["area"] as? Double == 7)
        named["area"] = "seven"
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(field.area == 7)
    }

    @Test func `an enum by name is its raw value`() throws {
        let store = try TestStore(Lot.self)
        let context = store.context()
        let lot = Lot(1, 3)
        context.insert(lot)
        try context.save()
        let named = try #require(try context.fetch(FetchRequest(entityName: "Lot")).first)
        named["use"] = "field"
        #expect(lot.use == .field && named["use"] as? String == "field")
        named["use"] = "moon"
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(lot.use == .field)
    }

    @Test func `a copy by backing data has computed values`() throws {
        let field = try field(store.context())
        let copy = Field(backingData: field.persistentBackingData)
        #expect(copy.area == 6 && field.calls == ["fetch"])
    }

    @Test func `an observer that reads at once sees the values of the newest row`() throws {
        let context = store.context()
        // Safe because the observer is called on the thread of the context.
        nonisolated(unsafe) let field = try field(context)
        withObservationTracking {
            _ = field.area
        } onChange: {
            _ = field.area
        }
        let other = store.context()
        try self.field(other).width = 10
        try other.save()
        context.refresh(field, mergeChanges: false)
        #expect(field.width == 10 && field.area == 30)
    }

    @Test func `hooks that are set late leave objects alone that were used before`() throws {
        let container = store.container
        let context = ModelContext(container)
        let new = Field(3, 3)
        context.insert(new)
        new.area = 1
        let used = try field(context)
        used.area = 2
        var hooks = EntityLifecycle()
        hooks.awakeFromFetch = { $0["area"] = 100 }
        context.setLifecycle(hooks, forEntityNamed: "Field")
        try context.save()
        #expect(new.area == 1 && used.area == 2)
        #expect(try field(context, width: 4).area == 100)
    }

    @Test func `a call inside of willSave leaves the phase of the save`() throws {
        let context = store.context()
        let (field, other) = (try field(context), try field(context, width: 4))
        field.saving = {
            #expect(other.area == 20)
            #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        }
        field.length = 9
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }

    @Test func `the code may neither undelete an object nor undo`() throws {
        let context = store.context()
        let field = try field(context)
        context.undoManager = UndoManager()
        field.length = 8
        context.processPendingChanges()
        context.delete(field)
        field.duty = {
            context.insert($0)
            context.undoManager?.undo()
        }
        #expect(field.area == 16 && field.isDeleted && field.length == 8)
    }
}
