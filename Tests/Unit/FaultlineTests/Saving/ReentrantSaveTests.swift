import Faultline
import Testing

/// An object whose lifecycle callbacks each test defines.
@Model final class Hooked {
    var value = 0
    var isIdle = true
    @Relationship(inverse: \Hooked.members) var group: Hooked?
    var members: [Hooked] = []
    @Transient var onWillSave: ((Hooked) -> Void)? = nil
    @Transient var onDidSave: ((Hooked) -> Void)? = nil
    @Transient var onValidate: ((Hooked) throws -> Void)? = nil
    @Transient var onAsk: ((Hooked) -> Void)? = nil

    init(_ value: Int) { self.value = value }

    /// Evaluated on objects, because rows do not store it.
    var isFree: Bool {
        onAsk?(self)
        return isIdle
    }
}

extension Hooked: ObjectLifecycle {
    func willSave() { onWillSave?(self) }
    func didSave() { onDidSave?(self) }
    func validateForInsert() throws { try onValidate?(self) }
    func validateForUpdate() throws { try onValidate?(self) }
    func validateForDelete() throws { try onValidate?(self) }
}

/// The operations allowed and forbidden in code that a save calls.
@Suite struct ReentrantSaveTests {
    private let store: TestStore
    private let context: ModelContext

    init() throws {
        store = try TestStore(Hooked.self)
        context = store.context()
    }

    private func saved(_ count: Int = 1) throws -> [Hooked] {
        let objects = (0..<count).map { Hooked($0) }
        objects.forEach(context.insert)
        try context.save()
        return objects
    }

    @Test func whatDidSaveChangesIsForTheNextSave() throws {
        let objects = try saved(2)
        objects[0].onDidSave = { object in
            object.onDidSave = nil
            object.value = 7
            object.group = objects[1]
        }
        objects[0].isIdle = false
        try context.save()
        #expect(context.hasChanges && objects[0].value == 7)
        #expect(objects[1].members == [objects[0]])
        try context.save()
        let again = try store.reopened().all(Hooked.self)
        #expect(again[0].value == 7 && again[0].group === again[1])
    }

    @Test func whoIsToldCannotSave() throws {
        let object = try saved()[0]
        let token = NotificationCenter.default.addObserver(
            forName: ModelContext.willSave, object: context, queue: nil
        ) { note in try? (note.object as? ModelContext)?.save() }
        object.value = 1
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        NotificationCenter.default.removeObserver(token)
        try context.save()
        #expect(try store.reopened().first(Hooked.self).value == 1)
    }

    @Test func aSaveAfterASaveIsToldAndSoIsTheFirst() throws {
        let object = try saved()[0]
        // Safe because notifications are delivered on the thread of the save.
        nonisolated(unsafe) var updated: [Int] = []
        let token = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: context, queue: nil
        ) { note in
            let key = ModelContext.NotificationKey.updatedIdentifiers.rawValue
            updated.append((note.userInfo?[key] as? Set<PersistentIdentifier>)?.count ?? 0)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        object.onDidSave = { object in
            object.onDidSave = nil
            object.value = 2
            try? object.modelContext?.save()
        }
        object.value = 1
        try context.save()
        #expect(updated == [1, 1])
        #expect(!context.hasChanges)
    }

    @Test(arguments: 0..<6) func validationMayOnlyRead(call: Int) throws {
        let objects = try saved(3)
        let unsaved = Hooked(3)
        objects[0].onValidate = { object in
            guard let context = object.modelContext else { return }
            switch call {
            case 0: try context.save()
            case 1: context.rollback()
            case 2: context.delete(objects[2])
            case 3: context.insert(Hooked(9))
            case 4: context.refresh(object, mergeChanges: false)
            default: try context.batchDelete(Hooked.self)
            }
        }
        context.insert(unsaved)
        context.delete(unsaved)
        context.delete(objects[1])
        objects[0].value = 10
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(try store.context().fetchCount(FetchDescriptor<Hooked>()) == 3)
        objects[0].onValidate = nil
        try context.save()
        #expect(try store.reopened().all(Hooked.self).map(\.value) == [10, 2])
    }

    @Test func willSaveThatGoesOnForEverIsStopped() throws {
        func endless() -> Hooked {
            let object = Hooked(0)
            object.onWillSave = { $0.modelContext?.insert(endless()) }
            return object
        }
        context.insert(endless())
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.rollback()
        #expect(try saved().count == 1)
    }

    // MARK: Batches

    @Test(arguments: [true, false]) func aBatchLeavesWhatOthersHaveTakenMeanwhile(deletes: Bool) throws {
        let objects = try saved(3)
        let other = store.context()
        objects[2].onAsk = { object in
            object.onAsk = nil
            // After the first object has been asked.
            let first = other.model(for: objects[0].persistentModelID) as? Hooked
            first?.isIdle = false
            try? other.save()
        }
        let idle = #Predicate<Hooked> { $0.isFree }
        if deletes {
            try context.batchDelete(Hooked.self, where: idle)
            #expect(try store.context().all(Hooked.self).map(\.value) == [0])
        } else {
            try context.batchUpdate(Hooked.self, where: idle, .set(\.value, to: 50))
            #expect(try store.context().all(Hooked.self).map(\.value) == [0, 50, 50])
        }
    }

    @Test func aBatchLeavesTheErrorOfASetterToTheSave() throws {
        let object = try saved()[0]
        let foreign = try #require(try store.context().all(Hooked.self).first)
        object.group = foreign
        try context.batchUpdate(Hooked.self, .set(\.value, to: 5))
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }

    // MARK: Collections

    @Test func aMemberThatOthersHaveAddedTooIsThereOnce() throws {
        let objects = try saved(2)
        objects[0].group = objects[1]
        let other = store.context()
        let same = try other.all(Hooked.self)
        same[0].group = same[1]
        try other.save()
        context.refreshAllObjects()
        #expect(objects[1].members == [objects[0]])
        #expect(Array(objects[1].relationship(\.members)) == [objects[0]])
        #expect(objects[1].relationship(\.members).count == 1)
    }

    // MARK: Autosave

    /// Waits longer than the longest time between two attempts: on a busy machine there may have been many.
    @MainActor private func settle(_ isSettled: () -> Bool) async throws {
        for _ in 0..<3_000 where !isSettled() { try await Task.sleep(for: .milliseconds(20)) }
        #expect(isSettled())
    }

    @MainActor @Test func anAutosaveTriesAgain() async throws {
        let main = store.container.mainContext
        let object = Hooked(1)
        object.onValidate = { if $0.value == 1 { throw InvalidValue("is 1", property: "value") } }
        main.insert(object)
        try await Task.sleep(for: .milliseconds(300))
        #expect(main.hasChanges)
        object.value = 2
        try await settle { !main.hasChanges }
        #expect(try store.context().first(Hooked.self).value == 2)
    }

    @MainActor @Test func anAutosaveLeavesTheErrorOfASetterToTheSave() async throws {
        let main = store.container.mainContext
        let foreign = Hooked(1)
        context.insert(foreign)
        let object = Hooked(2)
        main.insert(object)
        object.group = foreign
        try await Task.sleep(for: .milliseconds(500))
        #expect(main.hasChanges)
        #expect(throws: SwiftDataError.modelValidationFailure) { try main.save() }
        try await Task.sleep(for: .milliseconds(500))
        #expect(main.hasChanges)
        object.group = nil
        try await settle { !main.hasChanges }
    }
}
