import Faultline
import FaultlineDisk
import Synchronization
import Testing

/// Notifications of saves, and automatic saves.
@Suite struct SaveNotificationTests {
    private typealias Key = ModelContext.NotificationKey

    /// Collects the notifications of one context, in order.
    // Safe because notifications are delivered on the thread of the save, which is the test's.
    private final class Listener: @unchecked Sendable {
        private var notes: [Notification] = []
        private var tokens: [any NSObjectProtocol] = []

        init(_ context: ModelContext) {
            for name in [ModelContext.willSave, ModelContext.didSave] {
                tokens.append(
                    NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                        [unowned self] in self.notes.append($0)
                    })
            }
        }

        deinit { tokens.forEach(NotificationCenter.default.removeObserver) }

        func take() -> [Notification] {
            defer { notes = [] }
            return notes
        }
    }

    private func identifiers(_ note: Notification?, _ key: ModelContext.NotificationKey) -> Set<PersistentIdentifier> {
        note?.userInfo?[key.rawValue] as? Set<PersistentIdentifier> ?? []
    }

    @Test func `S3, S4: a save that writes something is told before and after, with who was written`() throws {
        let store = try TestStore(Folder.self, Document.self, Label.self, Body.self)
        let context = store.context()
        let listener = Listener(context)
        try context.save()
        #expect(listener.take().isEmpty)
        let folder = Folder("f")
        let members = (0..<3).map { Document("d\($0)") }
        folder.documents = members
        context.insert(folder)
        try context.save()
        var notes = listener.take()
        #expect(notes.map(\.name) == [ModelContext.willSave, ModelContext.didSave])
        #expect(notes.allSatisfy { $0.object as? ModelContext === context })
        let all = Set(members.map(\.persistentModelID) + [folder.persistentModelID])
        #expect(identifiers(notes.last, .insertedIdentifiers) == all)
        let first = try #require(notes.last?.userInfo?[Key.queryGeneration.rawValue] as? UInt64)

        members[0].title = "changed"
        context.delete(members[1])
        let unrelated = store.context()
        unrelated.insert(Folder("other"))
        try unrelated.save()
        #expect(listener.take().isEmpty)
        try context.save()
        notes = listener.take()
        #expect(identifiers(notes.last, .insertedIdentifiers).isEmpty)
        #expect(identifiers(notes.last, .updatedIdentifiers).contains(members[0].persistentModelID))
        #expect(identifiers(notes.last, .deletedIdentifiers) == [members[1].persistentModelID])
        #expect(notes.last?.userInfo?[Key.queryGeneration.rawValue] as? UInt64 == first + 2)
    }

    @Test func whatDeleteRulesDoIsTold() throws {
        let store = try TestStore(Folder.self, Document.self, Label.self, Body.self)
        let context = store.context()
        let folder = Folder("f")
        let (document, label) = (Document("d"), Label("l"))
        folder.documents = [document]
        document.labels = [label]
        document.body = Body()
        context.insert(folder)
        try context.save()
        let listener = Listener(context)
        context.delete(folder)
        try context.save()
        let note = listener.take().last
        #expect(identifiers(note, .deletedIdentifiers).map(\.entityName).sorted() == ["Body", "Document", "Folder"])
        #expect(identifiers(note, .updatedIdentifiers).isSubset(of: [label.persistentModelID]))
    }

    @Test func clearedReferencesOfObjectsThatNobodyHoldsAreTold() throws {
        let store = try TestStore(Team.self, User.self)
        let context = store.context()
        context.insert(User("u", team: Team("t")))
        try context.save()
        let deleting = store.context()
        let listener = Listener(deleting)
        deleting.delete(try deleting.first(Team.self))
        try deleting.save()
        let user = try store.context().first(User.self)
        #expect(identifiers(listener.take().last, .updatedIdentifiers) == [user.persistentModelID])
        #expect(user.team == nil)
    }

    @Test func ownersOfChangedCollectionsAreTold() throws {
        let store = try TestStore(Team.self, User.self, Playlist.self)
        let context = store.context()
        let (team, list) = (Team("t"), Playlist("l"))
        let users = ["a", "b"].map { User($0) }
        users.forEach(context.insert)
        context.insert(team)
        context.insert(list)
        try context.save()
        let listener = Listener(context)
        users[0].team = team
        list.songs = [Song("s")]
        try context.save()
        let changed: [any PersistentModel] = [users[0], team, list]
        #expect(identifiers(listener.take().last, .updatedIdentifiers) == Set(changed.map(\.persistentModelID)))
    }

    @Test func anInsertThatTakesAPlaceIsAnUpdate() throws {
        let store = try TestStore(Hall.self)
        let context = store.context()
        context.insert(Hall("h"))
        try context.save()
        let listener = Listener(context)
        let again = Hall("h")
        context.insert(again)
        try context.save()
        let note = listener.take().last
        #expect(identifiers(note, .insertedIdentifiers).isEmpty)
        #expect(identifiers(note, .updatedIdentifiers) == [again.persistentModelID])
    }

    @Test func aSaveThatFailsIsNotTold() throws {
        let store = try TestStore(Company.self, Worker.self, Visitor.self)
        let context = store.context()
        let company = Company("c")
        company.workers = [Worker("w")]
        context.insert(company)
        try context.save()
        let listener = Listener(context)
        context.delete(company)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(listener.take().map(\.name) == [ModelContext.willSave])
    }

    // MARK: Autosave

    @MainActor @Test func `S1, S2: the main context saves by itself, others when they are told to`() async throws {
        let store = try TestStore(Hall.self)
        let main = store.container.mainContext
        #expect(main.autosaveEnabled && !store.context().autosaveEnabled)
        main.insert(Hall("a"))
        main.insert(Hall("b"))
        #expect(main.hasChanges)
        try await settle { !main.hasChanges }
        #expect(try store.context().all(Hall.self).count == 2)
        try main.first(Hall.self).name = "c"
        main.autosaveEnabled = false
        try await Task.sleep(for: .milliseconds(300))
        #expect(main.hasChanges)
        main.autosaveEnabled = true
        try await settle { !main.hasChanges }
        #expect(try store.context().all(Hall.self).map(\.name).sorted() == ["b", "c"])
    }

    @MainActor @Test func anAutosaveThatIsRefusedIsReported() async throws {
        let store = try TestStore(Company.self, Worker.self, Visitor.self)
        let main = store.container.mainContext
        let company = Company("c")
        company.workers = [Worker("w")]
        main.insert(company)
        try main.save()
        let errors = Guarded<[any Error]>([])
        main.errorHandler = { error in errors.withLock { $0.append(error) } }
        main.delete(company)
        try await settle { errors.withLock { !$0.isEmpty } }
        #expect(errors.withLock { $0.first.map { SwiftDataError.modelValidationFailure ~= $0 } } == true)
        #expect(main.hasChanges)
    }

    @Test func anActorsContextSavesByItselfOnRequest() async throws {
        let store = try TestStore(Hall.self)
        let keeper = Keeper(modelContainer: store.container)
        try await keeper.add("quiet")
        #expect(await keeper.hasChanges)
        await keeper.saveAlone()
        try await settle { await !keeper.hasChanges }
        try await keeper.add("loud")
        try await settle { await !keeper.hasChanges }
        #expect(try store.context().all(Hall.self).count == 2)
    }

    /// Waits until a condition holds, for at most ten seconds.
    private func settle(
        isolation: isolated (any Actor)? = #isolation, _ isDone: () async -> Bool
    ) async throws {
        for _ in 0..<200 {
            if await isDone() { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("It did not settle.")
    }
}

@ModelActor
actor Keeper {
    var hasChanges: Bool { modelContext.hasChanges }
    func add(_ name: String) throws { modelContext.insert(Hall(name)) }
    func saveAlone() { modelContext.autosaveEnabled = true }
}
