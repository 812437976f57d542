import Faultline
import Testing

/// New objects whose unique values already belong to other objects.
@Suite struct UniquenessPolicyTests {
    private let store: TestStore
    private let context: ModelContext

    init() throws {
        store = try TestStore(User.self, Recipe.self)
        context = store.context()
    }

    private func findings(
        _ context: ModelContext, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [ValidationFinding] {
        do {
            try context.save()
            Issue.record("It was saved.", sourceLocation: sourceLocation)
            return []
        } catch {
            #expect(error as? SwiftDataError == .modelValidationFailure, "\(error)", sourceLocation: sourceLocation)
            return (error as? SwiftDataError)?.findings ?? []
        }
    }

    @Test("A17: .error refuses a new object with a stored object's unique value")
    func errors() throws {
        let stored = User("a", first: "A", last: "B", age: 1)
        context.insert(stored)
        try context.save()
        #expect(context.uniquenessConflicts == .update)
        let other = store.context()
        other.uniquenessConflicts = .error
        let new = User("a", first: "A", last: "B", age: 2)
        other.insert(new)
        let found = findings(other)
        #expect(Set(found.map(\.propertyName)) == ["email", "first"])
        for finding in found {
            #expect(finding.rule == .unique)
            #expect(finding.object == new.persistentModelID)
            #expect(finding.conflictingObject == stored.persistentModelID)
        }
        #expect(new.modelContext === other)
        #expect(try store.reopened().first(User.self).age == 1)
    }

    @Test("A17: two contexts that insert one value: the second save is refused")
    func errorsInTheWritersTurn() throws {
        let contexts = [store.context(), store.context()]
        for context in contexts {
            context.uniquenessConflicts = .error
            context.insert(User("a"))
        }
        try contexts[0].save()
        #expect(findings(contexts[1]).map(\.rule) == [.unique])
        #expect(try store.reopened().fetchCount(FetchDescriptor<User>()) == 1)
    }

    @Test("A17: of two new objects of one save, .error names the first one as the holder")
    func errorsWithinASave() throws {
        let users = [User("a"), User("a"), User("b")]
        for user in users { context.insert(user, onConflict: .error) }
        let found = findings(context)
        #expect(found.map(\.object) == [users[1].persistentModelID])
        #expect(found.first?.conflictingObject == users[0].persistentModelID)
        users[1].email = "c"
        try context.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<User>()) == 3)
    }

    @Test("A17: an object that .ignore leaves out is in no context")
    func ignoring() throws {
        context.insert(User("a", age: 1))
        try context.save()
        let (new, other) = (User("a", age: 2), User("b", age: 3))
        let team = Team("t")
        new.team = team
        context.insert(new, onConflict: .ignore)
        context.insert(other, onConflict: .ignore)
        let identifier = new.persistentModelID
        try context.save()
        #expect(new.modelContext == nil)
        #expect(new.age == 2)
        let registered: User? = context.registeredModel(for: identifier)
        #expect(registered == nil)
        #expect(!context.hasChanges)
        #expect(other.modelContext === context)
        #expect(team.users.isEmpty)
        let read = store.context()
        #expect(try read.all(User.self, sortBy: [SortDescriptor(\.email)]).map(\.age) == [1, 3])
        #expect(try read.first(Team.self).users.isEmpty)
        // It may be inserted again.
        new.email = "c"
        context.insert(new)
        try context.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<User>()) == 3)
    }

    @Test("A17: .ignore keeps the first of two new objects")
    func ignoringWithinASave() throws {
        context.uniquenessConflicts = .ignore
        for age in 1...3 { context.insert(User("a", age: age)) }
        try context.save()
        #expect(try store.reopened().all(User.self).map(\.age) == [1])
    }

    @Test("A17: .update lets the last of several new objects count, and an insertion may choose for itself")
    func updating() throws {
        context.uniquenessConflicts = .error
        for age in 1...3 { context.insert(User("a", age: age), onConflict: .update) }
        try context.save()
        #expect(try store.reopened().all(User.self).map(\.age) == [3])
    }

    @Test("A17: the objects that an ignored one owns are left out with it", arguments: [true, false])
    func ignoringAGraph(isOwnerFirst: Bool) throws {
        context.insert(Recipe("soup"))
        try context.save()
        context.uniquenessConflicts = .ignore
        let recipe = Recipe("soup")
        let steps = [Step("boil"), Step("salt")]
        if isOwnerFirst { context.insert(recipe) } else { steps.forEach(context.insert) }
        recipe.steps = steps
        context.insert(recipe)
        try context.save()
        #expect(([recipe] as [any PersistentModel] + steps).allSatisfy { $0.modelContext == nil })
        let read = try store.reopened()
        #expect(try read.fetchCount(FetchDescriptor<Step>()) == 0)
        // Its unique values can be used again.
        read.uniquenessConflicts = .error
        read.insert(Step("boil"))
        try read.save()
        try store.verify()
    }

    @Test(
        "A17: a new object that loses to one which is left out with its owner is looked at again",
        arguments: UniquenessPolicy.allCases, [true, false])
    func losingToAnObjectThatIsLeftOut(policy: UniquenessPolicy, isOwnerLast: Bool) throws {
        context.insert(Recipe("soup"))
        try context.save()
        let (recipe, owned, alone) = (Recipe("soup"), Step("boil"), Step("boil"))
        if !isOwnerLast { context.insert(recipe, onConflict: .ignore) }
        context.insert(owned, onConflict: policy == .error ? .ignore : policy)
        context.insert(alone, onConflict: policy)
        context.insert(recipe, onConflict: .ignore)
        recipe.steps = [owned]
        try context.save()
        #expect(recipe.modelContext == nil && owned.modelContext == nil)
        #expect(alone.modelContext === context && alone.recipe == nil)
        let read = try store.reopened()
        #expect(try read.all(Step.self).map(\.persistentModelID) == [alone.persistentModelID])
        #expect(try read.first(Recipe.self).steps.isEmpty)
        try store.verify()
    }

    @Test("A17: an owner that is looked at again brings along the objects that it owns")
    func losersComeBackWithTheirOwn() throws {
        let store = try TestStore(Carton.self)
        let context = store.context()
        context.insert(Carton("stored", "x"))
        try context.save()
        context.uniquenessConflicts = .ignore
        let (inner, outer) = (Carton("a", "1"), Carton("stored", "2"))
        let (loser, owned) = (Carton("a", "3"), Carton("c", "4"))
        // The inner one is numbered first, and leaves with the outer one when the loser has lost to it.
        for carton in [inner, owned, loser, outer] { context.insert(carton) }
        outer.cartons = [inner]
        loser.cartons = [owned]
        try context.save()
        #expect([inner, outer].allSatisfy { $0.modelContext == nil })
        let read = try store.reopened()
        let cartons = try read.all(Carton.self, sortBy: [SortDescriptor(\.name)])
        #expect(cartons.map(\.name) == ["a", "c", "stored"] && cartons.map(\.mark) == ["3", "4", "x"])
        #expect(cartons.first?.cartons.map(\.name) == ["c"])
        try store.verify()
    }

    @Test("A17: an object that loses to one that it owns does not take that one along")
    func losingToAnOwnObject() throws {
        let store = try TestStore(Carton.self)
        let context = store.context()
        context.uniquenessConflicts = .ignore
        let (inner, outer) = (Carton("a", "1"), Carton("a", "2"))
        for carton in [inner, outer] { context.insert(carton) }
        outer.cartons = [inner]
        try context.save()
        #expect(outer.modelContext == nil && inner.modelContext === context && inner.carton == nil)
        #expect(try store.reopened().all(Carton.self).map(\.mark) == ["1"])
        try store.verify()
    }

    @Test("A17: a stored object wins with a value that it is given by the same save")
    func ignoringBesideChanges() throws {
        let (first, second) = (User("a", age: 1), User("b", first: "B", last: "B", age: 2))
        for user in [first, second] { context.insert(user) }
        try context.save()
        first.email = "c"
        second.last = "C"
        let users = [User("c", age: 3), User("d", first: "B", last: "C", age: 4), User("a", age: 5)]
        for user in users { context.insert(user, onConflict: .ignore) }
        try context.save()
        #expect(users.map { $0.modelContext == nil } == [true, true, false])
        let read = try store.reopened().all(User.self, sortBy: [SortDescriptor(\.email)])
        #expect(read.map(\.email) == ["a", "b", "c"] && read.map(\.age) == [5, 2, 1])
        #expect(read.map(\.last) == [nil, "C", nil])
        try store.verify()
    }

    @Test("A17: a save that is refused leaves ignored objects in the context")
    func ignoringInARefusedSave() throws {
        let stored = User("a")
        let second = User("b")
        context.insert(stored)
        context.insert(second)
        try context.save()
        second.email = "a"
        let new = User("a")
        context.insert(new, onConflict: .ignore)
        #expect(findings(context).map(\.object) == [second.persistentModelID])
        #expect(new.modelContext === context)
        #expect(!new.isDeleted)
        second.email = "c"
        try context.save()
        #expect(new.modelContext == nil)
    }

    @Test("A17: batch insertions obey the policy")
    func batches() throws {
        context.insert(User("a", age: 1))
        try context.save()
        let stored = try context.first(User.self).persistentModelID
        let rows: [[String: Any?]] = ["a", "b", "b", "c"].map { ["email": $0, "age": 9] }
        do {
            try context.batchInsert(User.self, rows, onConflict: .error)
            Issue.record("It was inserted.")
        } catch let error as SwiftDataError {
            #expect(error.findings.map(\.rule) == [.unique, .unique])
            #expect(error.findings.map(\.conflictingObject) == [stored, nil])
        }
        #expect(try context.fetchCount(FetchDescriptor<User>()) == 1)
        let result = try context.batchInsert(User.self, rows, onConflict: .ignore)
        #expect(result.objectCounts == ["User": 2])
        #expect(result.ignoredCount == 2)
        #expect(result.upsertCount == 0)
        let users = try store.reopened().all(User.self, sortBy: [SortDescriptor(\.email)])
        #expect(users.map(\.email) == ["a", "b", "c"])
        #expect(users.map(\.age) == [1, 9, 9])
    }
}

@Model final class Recipe {
    @Attribute(.unique) var name: String
    @Relationship(deleteRule: .cascade, inverse: \Step.recipe) var steps: [Step] = []

    init(_ name: String) { self.name = name }
}

@Model final class Carton {
    @Attribute(.unique) var name: String
    var mark: String
    var carton: Carton?
    @Relationship(deleteRule: .cascade, inverse: \Carton.carton) var cartons: [Carton] = []

    init(_ name: String, _ mark: String) {
        self.name = name
        self.mark = mark
    }
}

@Model final class Step {
    @Attribute(.unique) var name: String
    var recipe: Recipe?

    init(_ name: String) { self.name = name }
}
