import Faultline
import Testing

@Model final class Account {
    var name: String
    var balance: Int
    var changeCount: Int = 0
    @Relationship(deleteRule: .cascade, inverse: \Account.owner) var subaccounts: [Account] = []
    var owner: Account?
    @Transient var told: [String] = []

    init(_ name: String, balance: Int = 0) {
        self.name = name
        self.balance = balance
    }
}

extension Account: ObjectLifecycle {
    func awakeFromInsert() { told.append("insert") }

    func willSave() {
        told.append("will")
        guard !isDeleted else { return }
        changeCount += 1
        owner?.balance += 1
    }

    func didSave() { told.append("did") }

    func validateForInsert() throws {
        if name.isEmpty { throw InvalidValue("is empty", property: "name") }
    }

    func validateForUpdate() throws {
        if balance < 0 { throw InvalidValue("is below zero", property: "balance") }
    }

    func validateForDelete() throws {
        if balance > 100 { throw InvalidValue("has a balance of \(balance)") }
    }
}

/// Code of classes and entities that is called at points in their objects' lifecycle.
@Suite struct LifecycleTests {
    private let store: TestStore

    init() throws { store = try TestStore(Account.self) }

    @Test("C18: new objects are told once") func newObjectsAreToldOnce() throws {
        let context = store.context()
        let (owner, account) = (Account("owner"), Account("account"))
        account.owner = owner
        #expect(owner.told.isEmpty)
        context.insert(account)
        #expect(account.told == ["insert"] && owner.told == ["insert"])
        context.rollback()
        context.insert(account)
        #expect(account.told == ["insert"])
        try context.save()
        #expect(account.told == ["insert", "will", "did"])
        let other = store.context()
        #expect(try other.all(Account.self).allSatisfy { $0.told.isEmpty })
    }

    @Test func whatASaveChangesIsToldToo() throws {
        let context = store.context()
        let (owner, account) = (Account("owner"), Account("account"))
        context.insert(owner)
        try context.save()
        owner.told = []
        account.owner = owner
        context.insert(account)
        try context.save()
        #expect(owner.told == ["will", "did"] && owner.changeCount == 2 && owner.balance == 1)
        #expect(account.changeCount == 1)
        let stored = try store.reopened().all(Account.self, sortBy: [SortDescriptor(\.name)])
        #expect(stored.map(\.changeCount) == [1, 2] && stored.map(\.balance) == [0, 1])
    }

    @Test func allFindingsAreListedAndNothingIsSaved() throws {
        let context = store.context()
        let (changed, deleted) = (Account("changed"), Account("deleted", balance: 500))
        context.insert(changed)
        context.insert(deleted)
        try context.save()
        changed.told = []
        changed.balance = -1
        context.delete(deleted)
        context.insert(Account(""))
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        let findings = error?.findings ?? []
        #expect(findings.map(\.rule) == [.custom, .custom, .custom])
        #expect(Set(findings.map(\.propertyName)) == ["name", "balance", nil])
        #expect(findings.contains { $0.description.hasSuffix("has a balance of 500") })
        #expect(findings.contains { $0.object == changed.persistentModelID && $0.propertyName == "balance" })
        #expect(!changed.told.contains("did") && context.hasChanges)
        #expect(try store.context().all(Account.self).count == 2)
        context.rollback()
        // An object deleted by a rule is not asked.
        let owner = Account("owner")
        owner.subaccounts = [deleted]
        context.insert(owner)
        try context.save()
        context.delete(owner)
        try context.save()
        #expect(try store.reopened().all(Account.self).map(\.name) == ["changed"])
    }

    @Test func aSaveWithinASaveIsRefused() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        var lifecycle = EntityLifecycle()
        lifecycle.willSave = { _ in try? context.save() }
        context.setLifecycle(lifecycle, forEntityNamed: "Department")
        let department = try context.make("Department", ["name": "d"])
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(department.isInserted)
        context.setLifecycle(nil, forEntityNamed: "Department")
        try context.save()
        context.setLifecycle(lifecycle, forEntityNamed: "Departement")
        #expect(throws: SwiftDataError.unknownSchema) { try context.save() }
    }

    @Test func whoIsToldMayTakeEverythingBack() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        var lifecycle = EntityLifecycle()
        lifecycle.willSave = { _ in context.rollback() }
        lifecycle.didSave = { _ in Issue.record("Nothing was saved.") }
        context.setLifecycle(lifecycle, forEntityNamed: "Department")
        let department = try context.make("Department", ["name": "d"])
        try context.save()
        #expect(department.managedObjectContext == nil && !context.hasChanges)
        #expect(try ModelContext(store.container).count(for: FetchRequest(entityName: "Department")) == 0)
    }

    @Test func dynamicObjectsHaveCodeByEntity() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        var told: [String] = []
        var lifecycle = EntityLifecycle()
        lifecycle.awakeFromInsert = {
            told.append("insert")
            $0["shoe"] = 44
        }
        lifecycle.willSave = { _ in told.append("will") }
        lifecycle.didSave = { told.append("did \($0["name"] ?? "")") }
        lifecycle.validateForUpdate = { person in
            if person["age"] as? Int == 200 { throw InvalidValue("is not a person's", property: "age") }
        }
        context.setLifecycle(lifecycle, forEntityNamed: "Person")
        let department = try context.make("Department", ["name": "d"])
        let person = try context.make("Person", ["name": "p", "department": department])
        try context.save()
        #expect(told == ["insert", "will", "did p"] && person["shoe"] as? Int8 == 44)
        person["age"] = 200
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(error?.findings.first?.propertyName == "age")
        #expect(error?.findings.first?.description == "Person.age 1: is not a person's")
    }
}
