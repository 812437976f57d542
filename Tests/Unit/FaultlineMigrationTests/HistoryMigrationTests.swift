import Faultline
import FaultlineLog
import FaultlineMigration
import FaultlineObjects
import Foundation
import Testing

private enum Diary1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Page.self] }

    @Model final class Page {
        var spare: Int = 0
        var text: String = ""
        @Attribute(.preserveValueOnDeletion) var day: Int = 0
        init() {}
    }
}

private enum Diary2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Page.self] }

    @Model final class Page {
        @Attribute(originalName: "text") var words: String = ""
        var added: String = "new"
        @Attribute(.preserveValueOnDeletion) var day: Int = 0
        init() {}
    }
}

/// The effect of migrations on the history.
struct HistoryMigrationTests {
    private typealias Wanted = HistoryDescriptor<DefaultHistoryTransaction>

    private func open(
        _ stores: Stores, _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil
    ) throws -> ModelContainer {
        try ModelContainer(
            for: version.models, migrationPlan: plan, directory: stores.directory, on: stores.disk,
            options: Stores.options, migration: Stores.dropping, recordsHistory: true)
    }

    @Test func aMigrationInPlaceKeepsHistoryAndTokens() throws {
        let stores = Stores()
        var container = try open(stores, Diary1.self)
        var context = ModelContext(container)
        let page = Diary1.Page()
        let other = Diary1.Page()
        other.day = 17
        context.insert(page)
        context.insert(other)
        try context.save()
        let token = try #require(try context.fetchHistory(Wanted()).first).token
        page.text = "x"
        page.spare = 3
        try context.save()
        context.delete(other)
        try context.save()
        try container.close()

        container = try open(stores, Diary2.self)
        context = ModelContext(container)
        let new = Diary2.Page()
        context.insert(new)
        try context.save()
        let found = try context.fetchHistory(Wanted(predicate: #Predicate { $0.token > token }))
        #expect(found.count == 3)
        guard case .update(let update)? = found.first?.changes.first,
            let update = update as? DefaultHistoryUpdate<Diary2.Page>
        else {
            Issue.record("no update")
            return
        }
        // The removed property no longer has a name, and the renamed one has its new name.
        #expect(update.updatedPropertyNames == ["words"])
        #expect(update.updatedAttributes.map { $0 as AnyKeyPath } == [\Diary2.Page.words])
        guard case .delete(let delete)? = found[1].changes.first,
            let delete = delete as? DefaultHistoryDelete<Diary2.Page>
        else {
            Issue.record("no deletion")
            return
        }
        #expect(delete.tombstone[\.day] as? Int == 17)
        #expect(Array(delete.tombstone).count == 1)
        try container.close()
    }

    @Test func aStagedMigrationLetsTheHistoryBeginAnew() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        var container = try open(stores, Work1.self)
        var context = ModelContext(container)
        let object = try #require(try context.all(Work1.Employee.self).first)
        context.delete(object)
        try context.save()
        let token = try #require(try context.fetchHistory(Wanted()).last).token
        let behind = Wanted(predicate: #Predicate { $0.token > token })
        #expect(try context.fetchHistory(behind).isEmpty)
        try container.close()

        try StageNotes.$current.withValue(StageNotes()) {
            container = try open(stores, Work2.self, WorkPlan.self)
        }
        context = ModelContext(container)
        #expect(try context.fetchHistory(Wanted()).isEmpty)
        #expect(throws: SwiftDataError.historyTokenExpired) { try context.fetchHistory(behind) }
        context.insert(Work2.Employee(number: 5_000, firstName: "New", lastName: "One"))
        try context.save()
        #expect(try context.fetchHistory(Wanted()).count == 1)
        try container.close()
    }
}
