import Faultline
import Testing

/// Saves of objects that other contexts have changed or deleted, under each policy.
@Suite struct ConflictTests {
    private let store: TestStore

    init() throws {
        store = try TestStore(
            Folder.self, Document.self, Label.self, Body.self, User.self, Team.self, Photo.self, Scalars.self)
    }

    /// A stored document as read by two contexts, the second of which has a policy.
    private func opened(
        _ policy: MergePolicy
    ) throws -> (mine: ModelContext, document: Document, theirs: ModelContext, other: Document) {
        let theirs = store.context()
        let other = Document("old", number: 1)
        theirs.insert(other)
        try theirs.save()
        let mine = store.context()
        mine.mergePolicy = policy
        let document = try mine.first(Document.self)
        _ = document.title
        return (mine, document, theirs, other)
    }

    private func stored() throws -> [String] {
        try store.reopened().all(Document.self, sortBy: [SortDescriptor(\.number)]).map { "\($0.title) \($0.number)" }
    }

    // MARK: Both contexts have changed it

    @Test("C44: the error policy lists all conflicts, and nothing is saved")
    func theErrorPolicyListsAllConflictsAndSavesNothing() throws {
        let (mine, document, theirs, other) = try opened(.error)
        let (second, third) = (Document("second", number: 2), Document("third", number: 3))
        for new in [second, third] { theirs.insert(new) }
        try theirs.save()
        let documents = try mine.all(Document.self, sortBy: [SortDescriptor(\.number)])
        for document in documents { document.title += " mine" }
        mine.insert(Document("new", number: 4))
        other.title = "theirs"
        second.number = 20
        try theirs.save()
        let error = #expect(throws: MergeConflictError.self) { try mine.save() }
        let conflicts = try #require(error?.conflicts)
        #expect(error?.conflictCount == 2 && conflicts.map(\.kind) == [.changedElsewhere, .changedElsewhere])
        #expect(conflicts.map(\.object) == [document.persistentModelID, documents[1].persistentModelID])
        let title = try #require(conflicts[0].properties.first)
        #expect(conflicts[0].properties.count == 1 && title.name == "title" && title.isChangedHere)
        #expect(
            title.read == .string("old") && title.stored == .string("theirs") && title.unsaved == .string("old mine"))
        // Only the other context changed it, but the object is still in conflict.
        let number = try #require(conflicts[1].properties.first)
        #expect(number.name == "number" && !number.isChangedHere)
        #expect(number.read == .integer(2) && number.stored == .integer(20) && number.unsaved == .integer(2))
        #expect("\(try #require(error))".contains("title changed elsewhere since it was read"))

        // Nothing was saved, and the context can continue.
        #expect(document.title == "old mine" && mine.hasChanges && mine.insertedModelsArray.count == 1)
        #expect(try store.context().fetchCount(FetchDescriptor<Document>()) == 3)
        #expect(throws: MergeConflictError.self) { try mine.save() }
        mine.refresh(document, mergeChanges: true)
        mine.refresh(documents[1], mergeChanges: false)
        try mine.save()
        #expect(try stored() == ["old mine 1", "third mine 3", "new 4", "second 20"])
    }

    /// Another save follows the refresh, so that the marks of the changed slots count, and not whole rows.
    @Test func aRefreshedObjectKeepsItsChangesBesideLaterOnes() throws {
        let (mine, document, theirs, other) = try opened(.mergeByPropertyObjectTrump)
        let user = User("a", first: "A", last: "B")
        theirs.insert(user)
        try theirs.save()
        let mineUser = try mine.first(User.self)
        document.title = "mine"
        mineUser.email = "b"
        for number in 2...3 {
            other.number = number
            user.age = number
            try theirs.save()
            if number == 2 {
                mine.refresh(document, mergeChanges: true)
                mine.refresh(mineUser, mergeChanges: true)
            }
        }
        try mine.save()
        #expect(try stored() == ["mine 3"])
        let read = store.context()
        for (email, ages) in [("a", []), ("b", [3])] {
            #expect(
                try read.fetch(FetchDescriptor<User>(predicate: #Predicate { $0.email == email })).map(\.age) == ages)
        }
        try store.verify()
    }

    @Test(
        arguments: [
            (MergePolicy.mergeByPropertyObjectTrump, "mine 2", "theirs"),
            (.mergeByPropertyStoreTrump, "theirs 2", "theirs"),
            (.overwrite, "mine 2", nil), (.rollback, "theirs 1", "theirs"),
        ] as [(MergePolicy, String, String?)])
    func aPolicySaysWhichValuesAreSaved(_ policy: MergePolicy, _ title: String, _ folder: String?) throws {
        let (mine, document, theirs, other) = try opened(policy)
        let untouched = Document("untouched", number: 9)
        mine.insert(untouched)
        other.title = "theirs"
        other.folder = Folder("theirs")
        try theirs.save()
        document.title = "mine"
        document.number = 2
        try mine.save()
        #expect(!mine.hasChanges)
        #expect("\(document.title) \(document.number)" == title && document.folder?.name == folder)
        let folders = try store.context().all(Folder.self)
        #expect(folders.first?.documents.count == (folder == nil ? 0 : 1))
        // The other context writes the same values again: no change is lost, so this is no conflict.
        document.number = 3
        _ = try theirs.all(Document.self)
        other.title = other.title
        try theirs.save()
        mine.mergePolicy = .error
        try mine.save()
        document.number = Int(title.suffix(1)) ?? 0
        try mine.save()
        #expect(try stored() == [title, "untouched 9"])
    }

    @Test(arguments: [false, true])
    func aRelationshipThatTheStoreWinsLeavesBothSidesRight(_ hasFolderAtFirst: Bool) throws {
        let (mine, document, theirs, other) = try opened(.mergeByPropertyStoreTrump)
        for name in ["a", "b", "c"] { theirs.insert(Folder(name)) }
        try theirs.save()
        if hasFolderAtFirst {
            other.folder = try theirs.all(Folder.self).first { $0.name == "a" }
            try theirs.save()
        }
        let folders = try mine.all(Folder.self, sortBy: [SortDescriptor(\.name)])
        #expect(document.folder === (hasFolderAtFirst ? folders[0] : nil))
        document.folder = folders[1]
        document.number = 7
        #expect(folders[1].documents == [document])
        other.folder = try theirs.all(Folder.self).first { $0.name == "c" }
        try theirs.save()
        try mine.save()
        #expect(document.folder === folders[2] && document.number == 7)
        #expect(folders.map(\.documents.count) == [0, 0, 1])
        let again = try store.reopened().all(Folder.self, sortBy: [SortDescriptor(\.name)])
        #expect(again.map(\.documents.count) == [0, 0, 1] && again[2].documents[0].number == 7)
    }

    @Test func overwritingLeavesWhatIsGone() throws {
        let context = store.context()
        let photo = Photo("p")
        photo.large = Data(repeating: 1, count: 10_000)
        photo.small = Data([1])
        context.insert(photo)
        let user = User("u", team: Team("t"))
        context.insert(user)
        try context.save()
        let mine = store.context()
        mine.mergePolicy = .overwrite
        let (ours, member) = (try mine.first(Photo.self), try mine.first(User.self))
        ours.name = "mine"
        member.age = 5
        photo.large = Data(repeating: 2, count: 20_000)
        photo.small = Data([2])
        photo.name = "theirs"
        user.email = "v"
        context.delete(try #require(user.team))
        try context.save()
        try mine.save()
        let again = try store.reopened()
        let found = try again.first(Photo.self)
        #expect(found.name == "mine" && found.small == Data([1]) && found.large.count == 20_000)
        let left = try again.first(User.self)
        #expect(left.email == "u" && left.age == 5 && left.team == nil)
    }

    // MARK: One context has deleted it

    @Test(arguments: MergePolicy.allCases)
    func whatOthersHaveDeletedIsNotChanged(_ policy: MergePolicy) throws {
        let (mine, document, theirs, other) = try opened(policy)
        let folder = Folder("f")
        mine.insert(folder)
        document.title = "mine"
        document.folder = folder
        theirs.delete(other)
        try theirs.save()
        switch policy {
        case .error:
            let error = #expect(throws: MergeConflictError.self) { try mine.save() }
            let conflict = try #require(error?.conflicts.first)
            #expect(conflict.kind == .deletedElsewhere && conflict.properties.map(\.name) == ["title", "folder"])
            #expect(conflict.properties[0].stored == nil && conflict.properties[0].read == .string("old"))
            mine.refresh(document, mergeChanges: false)
            try mine.save()
        case .mergeByPropertyObjectTrump, .overwrite:
            // The object cannot be restored with everything that its deletion removed: the save is refused, with all
            // such objects.
            let error = #expect(throws: SwiftDataError.self) { try mine.save() }
            #expect(error == .modelValidationFailure && error?.findings.map(\.rule) == [.deletedElsewhere])
            #expect(mine.hasChanges && document.title == "mine")
            mine.rollback()
            mine.insert(folder)
            try mine.save()
        case .mergeByPropertyStoreTrump, .rollback:
            try mine.save()
        }
        #expect(document.title == "" && document.isDeleted && !mine.hasChanges && folder.documents.isEmpty)
        let again = try store.reopened()
        #expect(try again.all(Document.self).isEmpty)
        #expect(try again.all(Folder.self).map(\.documents.count) == [0])
    }

    @Test(arguments: MergePolicy.allCases)
    func aDeletionOfWhatOthersHaveChanged(_ policy: MergePolicy) throws {
        let (mine, document, theirs, other) = try opened(policy)
        mine.delete(document)
        other.number = 5
        try theirs.save()
        let isKept = [.error, .mergeByPropertyStoreTrump, .rollback].contains(policy)
        if policy == .error {
            let error = #expect(throws: MergeConflictError.self) { try mine.save() }
            #expect(error?.conflicts.map(\.kind) == [.deletedHere])
            #expect(error?.conflicts.first?.properties.map(\.unsaved) == [nil])
            #expect(document.isDeleted)
            mine.rollback()
        } else {
            try mine.save()
        }
        #expect(document.isDeleted == !isKept && !mine.hasChanges)
        #expect(try stored() == (isKept ? ["old 5"] : []))
    }

    @Test(arguments: MergePolicy.allCases)
    func whatBothHaveDeletedIsNoConflict(_ policy: MergePolicy) throws {
        let (mine, document, theirs, other) = try opened(policy)
        mine.delete(document)
        theirs.delete(other)
        try theirs.save()
        try mine.save()
        #expect(try stored().isEmpty)
    }

    // MARK: Unchanged objects

    @Test func conflictsOfUnchangedObjectsAreDetectedOnRequest() throws {
        let (mine, document, theirs, other) = try opened(.error)
        let unwatched = Document("unwatched")
        mine.insert(unwatched)
        try mine.save()
        mine.detectConflicts(for: document)
        other.number = 2
        try theirs.save()
        // Detection applies from the call on, also after later reads.
        #expect(try mine.fetch(FetchDescriptor<Document>(predicate: #Predicate { $0.number == 2 })) == [document])
        try mine.save()
        unwatched.title = "changed"
        let error = #expect(throws: MergeConflictError.self) { try mine.save() }
        let property = try #require(error?.conflicts.first?.properties.first)
        #expect(error?.conflicts.count == 1 && property.name == "number" && !property.isChangedHere)
        #expect(property.read == .integer(1) && property.stored == .integer(2) && property.unsaved == .integer(1))
        mine.refresh(document, mergeChanges: true)
        try mine.save()
        // The save has ended the detection.
        other.number = 3
        try theirs.save()
        unwatched.title = "again"
        try mine.save()
        // Other policies have nothing to merge.
        mine.mergePolicy = .rollback
        mine.detectConflicts(for: document)
        other.number = 4
        try theirs.save()
        unwatched.title = "last"
        try mine.save()
        #expect(try stored() == ["last 0", "old 4"])
    }

    @Test func aWatchedObjectThatIsGoneIsAConflict() throws {
        let (mine, document, theirs, other) = try opened(.mergeByPropertyObjectTrump)
        mine.detectConflicts(for: document)
        theirs.delete(other)
        try theirs.save()
        mine.insert(Document("new"))
        mine.mergePolicy = .error
        let error = #expect(throws: MergeConflictError.self) { try mine.save() }
        #expect(error?.conflicts.map(\.kind) == [.deletedElsewhere] && error?.conflicts.first?.properties == [])
        mine.rollback()
        mine.insert(Document("new"))
        try mine.save()
    }

    // MARK: Policies set late

    @Test(arguments: [false, true])
    func aPolicyHoldsForWhatWasChangedBefore(_ hasMovedOn: Bool) throws {
        let (mine, document, theirs, other) = try opened(.mergeByPropertyObjectTrump)
        document.title = "mine"
        if hasMovedOn {
            other.number = 2
            try theirs.save()
            _ = try mine.fetchCount(FetchDescriptor<Document>())
        }
        mine.mergePolicy = .error
        other.title = "theirs"
        try theirs.save()
        let error = #expect(throws: MergeConflictError.self) { try mine.save() }
        let properties = try #require(error?.conflicts.first?.properties)
        #expect(properties.map(\.name) == (hasMovedOn ? ["title", "number"] : ["title"]))
        // If the context has moved on since, the values that it read are no longer known.
        #expect(properties[0].read == (hasMovedOn ? nil : .string("old")) && properties[0].unsaved == .string("mine"))
    }

    @Test func theDefaultKeepsNothing() throws {
        let (mine, document, _, _) = try opened(.mergeByPropertyObjectTrump)
        document.title = "mine"
        #expect(mine.core.keptOriginalCount == nil && mine.mergePolicy == .mergeByPropertyObjectTrump)
        mine.mergePolicy = .error
        #expect(mine.core.keptOriginalCount == 1)
        mine.mergePolicy = .mergeByPropertyObjectTrump
        #expect(mine.core.keptOriginalCount == nil)
    }

    // MARK: Saves in between

    @Test(arguments: [MergePolicy.error, .mergeByPropertyStoreTrump, .overwrite, .rollback])
    func whoSavesWhileThisOneBeginsToIsSeenToo(_ policy: MergePolicy) throws {
        let store = try DynamicStore()
        let theirs = ModelContext(store.container)
        let other = try theirs.make("Person", ["name": "p", "age": 1])
        try theirs.save()
        let mine = ModelContext(store.container)
        mine.mergePolicy = policy
        var lifecycle = EntityLifecycle()
        // Called after conflicts were checked, and before the save has its turn.
        lifecycle.validateForUpdate = { _ in
            guard other["age"] as? Int == 1 else { return }
            other["age"] = 3
            try theirs.save()
        }
        mine.setLifecycle(lifecycle, forEntityNamed: "Person")
        let person = try #require(try mine.named("p"))
        person["age"] = 2
        if policy == .error {
            #expect(throws: MergeConflictError.self) { try mine.save() }
        } else {
            try mine.save()
        }
        let age = try store.reopened().named("p")?["age"] as? Int
        #expect(age == (policy == .overwrite ? 2 : 3))
    }

    // MARK: Without classes

    @Test func policiesHoldForObjectsWithoutClasses() throws {
        let store = try DynamicStore()
        let theirs = ModelContext(store.container)
        let other = try theirs.make("Person", ["name": "p", "age": 1])
        try theirs.save()
        let mine = ModelContext(store.container)
        mine.mergePolicy = .error
        let person = try #require(try mine.named("p"))
        person["age"] = 2
        person["tags"] = ["mine"]
        other["age"] = 3
        other["department"] = try theirs.make("Department", ["name": "d"])
        try theirs.save()
        let error = #expect(throws: MergeConflictError.self) { try mine.save() }
        let properties = try #require(error?.conflicts.first?.properties)
        #expect(properties.map(\.name) == ["age", "department"])
        #expect(properties[0].read == .integer(1) && properties[0].stored == .integer(3))
        let department = try #require(other["department"] as? ManagedObject)
        #expect(properties[1].read == .null && properties[1].stored == .object(department.objectID))
        mine.mergePolicy = .mergeByPropertyStoreTrump
        try mine.save()
        #expect(person["age"] as? Int == 3 && person["tags"] != nil)
        let again = try #require(try store.reopened().named("p"))
        #expect(again["age"] as? Int == 3 && (again["department"] as? ManagedObject)?["name"] as? String == "d")
        #expect(try (again["tags"] as? CodableValue)?.decode() == ["mine"])
        #expect(try store.findings() == [])
    }
}
