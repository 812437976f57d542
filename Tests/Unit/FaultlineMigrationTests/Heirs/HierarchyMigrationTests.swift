import Faultline
import FaultlineMigration
import Testing

/// Migrations of stores whose classes inherit from each other.
struct HierarchyMigrationTests {
    private static func filled() throws -> Stores {
        let stores = Stores()
        try stores.use(Travel1.self) { _, context in try Travel1.fill(context) }
        return stores
    }

    @Test func `properties of the root class are added and renamed beside subclasses`() throws {
        let stores = try Self.filled()
        try stores.use(Travel2.self) { _, context in
            let trips = try context.fetch(FetchDescriptor<Travel2.Trip>(sortBy: [SortDescriptor(\.title)]))
            #expect(trips.map(\.title) == ["b1", "b2", "b3", "t1", "t2", "t3"])
            #expect(trips.allSatisfy { $0.days == 7 })
            #expect(trips.compactMap { ($0 as? Travel2.BusinessTrip)?.company } == ["c1", "c2", "c3"])
            try #require(trips.first).days = 8
            try context.save()
        }
        try stores.use(Travel2.self) { _, context in
            let found = try context.fetch(FetchDescriptor<Travel2.BusinessTrip>(predicate: #Predicate { $0.days == 8 }))
            #expect(found.map(\.company) == ["c1"])
        }
    }

    /// Opens the store of `filled()` under a version, which must be refused.
    private func refusal(
        _ version: any VersionedSchema.Type, _ stores: Stores, migration: MigrationOptions = Stores.dropping
    ) throws -> MigrationError {
        let error = try #require(throws: MigrationError.self) { try stores.open(version, migration: migration) }
        try stores.use(Travel1.self) { _, context in
            let companies = try context.fetch(FetchDescriptor<Travel1.BusinessTrip>()).map(\.company)
            #expect(companies == ["c1", "c2", "c3"])
        }
        return error
    }

    @Test func `a subclass is added beside another one, and to a class that had none`() throws {
        let stores = Stores()
        try stores.use(Travel4.self) { _, context in
            context.insert(Travel4.Trip(name: "old"))
            try context.save()
        }
        try stores.use(Travel1.self) { _, context in
            #expect(try context.fetch(FetchDescriptor<Travel1.Trip>()).map(\.name) == ["old"])
            #expect(try context.fetchCount(FetchDescriptor<Travel1.BusinessTrip>()) == 0)
            try Travel1.fill(context)
        }
        try stores.use(Travel3.self) { _, context in
            context.insert(Travel3.PrivateTrip(name: "p"))
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<Travel3.Trip>()) == 8)
            #expect(try context.fetch(FetchDescriptor<Travel3.PrivateTrip>()).map(\.mood) == ["good"])
            #expect(try context.fetch(FetchDescriptor<Travel3.BusinessTrip>()).map(\.company) == ["c1", "c2", "c3"])
        }
    }

    @Test func `a subclass is removed once it has no objects`() throws {
        let stores = try Self.filled()
        for migration in [MigrationOptions(), Stores.dropping] {
            let error = try refusal(Travel4.self, stores, migration: migration)
            #expect(error.code == .unhandledData && error.description.contains("Trip"))
        }
        try stores.use(Travel1.self) { _, context in
            try context.delete(model: Travel1.BusinessTrip.self)
            try context.save()
        }
        try stores.use(Travel4.self, migration: MigrationOptions()) { _, context in
            let names = try context.fetch(FetchDescriptor<Travel4.Trip>()).map(\.name)
            #expect(names == ["t1", "t2", "t3"])
        }
        // A class of the same name is another one.
        try stores.use(Travel1.self, migration: MigrationOptions(unhandledData: .drop, allowsOlderSchema: true)) {
            _, context in
            let count = try context.fetchCount(FetchDescriptor<Travel1.BusinessTrip>())
            #expect(count == 0)
        }
    }

    @Test func `a class and its property are renamed, and a class is put between two others`() throws {
        let stores = try Self.filled()
        try stores.use(Travel7.self, migration: MigrationOptions()) { _, context in
            let work = try context.fetch(FetchDescriptor<Travel7.WorkTrip>(sortBy: [SortDescriptor(\.name)]))
            #expect(work.map(\.firm) == ["c1", "c2", "c3"] && work.map(\.stars) == [3, 3, 3])
            #expect(try context.fetchCount(FetchDescriptor<Travel7.ManagedTrip>()) == 3)
            let managed = Travel7.ManagedTrip(name: "m")
            context.insert(managed)
            context.insert(Travel7.WorkTrip(name: "n", firm: "f"))
            work[0].approval = "yes"
            try context.save()
        }
        try stores.use(Travel7.self) { _, context in
            let all = try context.fetch(FetchDescriptor<Travel7.Trip>(sortBy: [SortDescriptor(\.name)]))
            #expect(
                all.map { "\(type(of: $0))" } == [
                    "WorkTrip", "WorkTrip", "WorkTrip", "ManagedTrip", "WorkTrip", "Trip", "Trip", "Trip",
                ])
            let managed = try context.fetch(
                FetchDescriptor<Travel7.ManagedTrip>(predicate: #Predicate { $0.approval == "yes" }))
            #expect(managed.map(\.name) == ["b1"])
            #expect(
                try context.fetchCount(
                    FetchDescriptor<Travel7.Trip>(predicate: #Predicate { $0 is Travel7.ManagedTrip })) == 5)
        }
    }

    @Test func `a property moves up with its values, and others get the default`() throws {
        let stores = try Self.filled()
        try stores.use(Travel8.self, migration: MigrationOptions()) { _, context in
            let all = try context.fetch(FetchDescriptor<Travel8.Trip>(sortBy: [SortDescriptor(\.name)]))
            #expect(all.map(\.company) == ["c1", "c2", "c3", "none", "none", "none"])
            all[4].company = "mine"
            try context.save()
            let none = try context.fetchCount(
                FetchDescriptor<Travel8.Trip>(predicate: #Predicate { $0.company == "none" }))
            #expect(none == 2)
        }
        // Down again: the values of other objects would be lost.
        let error = try #require(throws: MigrationError.self) {
            try stores.open(Travel12.self, migration: MigrationOptions())
        }
        #expect(error.code == .unhandledData && error.description.contains("company"))
        try stores.use(Travel1.self, migration: MigrationOptions(unhandledData: .drop, allowsOlderSchema: true)) {
            _, context in
            let companies = try context.fetch(FetchDescriptor<Travel1.BusinessTrip>()).map(\.company)
            #expect(companies == ["c1", "c2", "c3"])
            #expect(try context.fetchCount(FetchDescriptor<Travel1.Trip>()) == 6)
        }
    }

    @Test func `a class is put above the root class, and removed again`() throws {
        let stores = try Self.filled()
        try stores.use(Travel9.self, migration: MigrationOptions()) { _, context in
            let trips = try context.fetch(FetchDescriptor<Travel9.Trip>(sortBy: [SortDescriptor(\.name)]))
            #expect(trips.map(\.name) == ["b1", "b2", "b3", "t1", "t2", "t3"])
            #expect(trips.compactMap { ($0 as? Travel9.BusinessTrip)?.company } == ["c1", "c2", "c3"])
            trips[3].kind = "plane"
            context.insert(Travel9.Journey(kind: "train"))
            context.insert(Travel9.Trip(name: "u"))
            try context.save()
        }
        try stores.use(Travel9.self) { _, context in
            let all = try context.fetch(FetchDescriptor<Travel9.Journey>())
            #expect(all.count == 8 && all.count { $0 is Travel9.Trip } == 7)
            #expect(all.filter { type(of: $0) == Travel9.Journey.self }.map(\.kind) == ["train"])
        }
        let drop = MigrationOptions(unhandledData: .drop, allowsOlderSchema: true)
        let error = try #require(throws: MigrationError.self) { try stores.open(Travel1.self, migration: drop) }
        #expect(error.code == .unhandledData && error.description.contains("Journey"))
        try stores.use(Travel9.self) { _, context in
            try context.delete(model: Travel9.Journey.self, includeSubclasses: false)
            try context.save()
        }
        try stores.use(Travel1.self, migration: drop) { _, context in
            let names = try context.fetch(FetchDescriptor<Travel1.Trip>(sortBy: [SortDescriptor(\.name)])).map(\.name)
            #expect(names == ["b1", "b2", "b3", "t1", "t2", "t3", "u"])
            #expect(try context.fetchCount(FetchDescriptor<Travel1.BusinessTrip>()) == 3)
        }
    }

    @Test func `a required property of a subclass needs a default, or no objects`() throws {
        let stores = try Self.filled()
        let error = try refusal(Travel10.self, stores)
        #expect(error.code == .unhandledData && error.description.contains("city"))
        try stores.use(Travel3.self) { _, context in
            context.insert(Travel3.PrivateTrip(name: "p"))
            try context.save()
        }
        let shared = try #require(throws: MigrationError.self) {
            try stores.open(Travel11.self, migration: Stores.dropping)
        }
        #expect(shared.code == .unhandledData && shared.description.contains("PrivateTrip"))
        try stores.use(Travel3.self) { _, context in
            try context.delete(model: Travel3.PrivateTrip.self)
            try context.save()
        }
        try stores.use(Travel11.self) { _, context in
            context.insert(Travel11.PrivateTrip(name: "p", company: "q"))
            try context.save()
            #expect(try context.fetch(FetchDescriptor<Travel11.BusinessTrip>()).map(\.company) == ["c1", "c2", "c3"])
        }
    }

    @Test func `a property of a subclass becomes required once all objects have a value`() throws {
        let stores = try Self.filled()
        try stores.use(Travel6.self) { _, context in
            context.insert(Travel6.BusinessTrip(name: "b4"))
            try context.save()
        }
        let options = MigrationOptions(unhandledData: .drop, allowsOlderSchema: true)
        let error = try #require(throws: MigrationError.self) { try stores.open(Travel1.self, migration: options) }
        #expect(error.code == .unhandledData && error.description.contains("company"))
        try stores.use(Travel6.self) { _, context in
            for trip in try context.fetch(FetchDescriptor<Travel6.BusinessTrip>()) where trip.company == nil {
                trip.company = "c4"
            }
            try context.save()
        }
        try stores.use(Travel1.self, migration: options) { _, context in
            let companies = try context.fetch(FetchDescriptor<Travel1.BusinessTrip>()).map(\.company)
            #expect(companies == ["c1", "c2", "c3", "c4"])
        }
    }

    @Test func `a subclass does not become a root class beside the others`() throws {
        let stores = try Self.filled()
        let error = try refusal(Travel5.self, stores)
        #expect(error.code == .notLightweight && error.description.contains("BusinessTrip"))
    }

    @Test func `an online migration looks again at the switch`() throws {
        let stores = Stores()
        try stores.use(Travel3.self) { _, context in
            context.insert(Travel3.Trip(name: "t"))
            try context.save()
        }
        let old = try stores.open(Travel3.self)
        defer { try? old.close() }
        // Safe because the migration reports its progress on this thread.
        nonisolated(unsafe) let context = ModelContext(old)
        var options = MigrationOptions(
            unhandledData: .drop, allowsOlderSchema: true,
            progress: { progress in
                // The objects were checked: another container saves one of the class that goes.
                guard progress.pass == .switching, context.insertedModelsArray.isEmpty else { return }
                context.insert(Travel3.PrivateTrip(name: "p"))
                try? context.save()
            })
        options.isOnline = true
        let online = options
        let error = try #require(throws: MigrationError.self) { try stores.open(Travel1.self, migration: online) }
        #expect(error.code == .unhandledData && error.description.contains("PrivateTrip"))
        #expect(try context.fetchCount(FetchDescriptor<Travel3.PrivateTrip>()) > 0)
        context.insert(Travel3.BusinessTrip(name: "b", company: "c"))
        try context.save()
    }

    @Test func `a class with a table of its own does not become a subclass`() throws {
        let stores = Stores()
        try stores.use(Travel5.self) { _, context in
            context.insert(Travel5.BusinessTrip(name: "a", company: "b"))
            try context.save()
        }
        let error = try #require(throws: MigrationError.self) { try stores.open(Travel1.self) }
        #expect(error.code == .notLightweight && error.description.contains("BusinessTrip"))
    }

    private enum CodePlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Travel1.self, Travel2.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: Travel1.self, toVersion: Travel2.self, willMigrate: { _ in }, didMigrate: nil)
            ]
        }
    }

    private enum StreamedPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Travel1.self, Travel2.self] }
        static var stages: [MigrationStage] {
            [
                .streamed(
                    fromVersion: Travel1.self, toVersion: Travel2.self,
                    StreamedEntity(Travel1.Trip.self) { old, output in
                        try output.insert(Travel2.Trip(title: old.name))
                    })
            ]
        }
    }

    @Test(arguments: [CodePlan.self, StreamedPlan.self] as [any SchemaMigrationPlan.Type])
    func `stages with code refuse a class with subclasses`(plan: any SchemaMigrationPlan.Type) throws {
        let stores = try Self.filled()
        let error = try #require(throws: MigrationError.self) { try stores.open(Travel2.self, plan) }
        #expect(error.code == .badPlan && error.description.contains("Trip"))
        try stores.use(Travel2.self) { _, context in
            let count = try context.fetchCount(FetchDescriptor<Travel2.BusinessTrip>())
            #expect(count == 3)
        }
    }
}
