import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import FaultlineTestSupport
import Testing

/// Returning to the state before a migration.
struct RollbackTests {
    private let stores = Stores()

    private var grace: MigrationOptions {
        var options = Stores.dropping
        options.gracePeriod = .seconds(60)
        return options
    }

    private func clock(_ seconds: Int64) -> Clock { Clock { seconds * 1_000_000_000 } }

    private func rollBack(at seconds: Int64 = 10, discarding: Bool = false) throws -> RollbackReport {
        try ModelContainer.rollBackMigration(
            directory: stores.directory, on: stores.disk, clock: clock(seconds), options: Stores.options,
            discardingCommits: discarding)
    }

    private func refusal(at seconds: Int64 = 10, discarding: Bool = false) -> RollbackError? {
        #expect(throws: RollbackError.self) { try rollBack(at: seconds, discarding: discarding) }
    }

    @Test(arguments: [false, true]) func `M18 (woocommerce-ios PR#2481): a migration is undone to the byte, and redone`(
        isMapped: Bool
    ) throws {
        let plan: any SchemaMigrationPlan.Type = isMapped ? MappedWorkPlan.self : WorkPlan.self
        try WorkStore.make(in: stores)
        let before = try stores.rows()
        try stores.use(Work2.self, plan, migration: grace, clock: clock(1)) { container, context in
            try WorkStore.check(context, photosMoved: !isMapped)
            let period = try #require(container.migrationReport.gracePeriod)
            #expect(period.until == 61 && period.bytes > 10_000)
            #expect(try MigrationReport(json: container.migrationReport.json()).gracePeriod == period)
            #expect(container.migrationReport.text.contains("can be rolled back until 1970-01-01T00:01:01Z: holds"))
            #expect(try container.gracePeriod()?.until == 61)
            try container.checkpoint()
            #expect(container.health.gracePeriod?.until == 61)
            #expect(container.health.gracePeriod?.bytes ?? 0 > 10_000)
        }
        // Opened again, and compacted: neither counts as a change after the migration.
        try stores.use(Work2.self, plan, clock: clock(5)) { container, _ in
            try container.compact()
            #expect(container.migrationReport.gracePeriod == nil)
        }
        let report = try rollBack()
        #expect([report.from, report.to] == ["2.0.0", "1.0.0"] && report.commitsDiscarded == 0)
        #expect(try stores.rows() == before)
        #expect(try stores.findings(Work1.self) == [])
        #expect(refusal()?.code == .nothingKept)
        try stores.use(Work2.self, plan, clock: clock(20)) { container, context in
            try WorkStore.check(context, photosMoved: !isMapped)
            #expect(try container.gracePeriod() == nil)
        }
    }

    @Test func `M28 (fluent#387, #412): a lightweight migration is undone although rows were changed`() throws {
        try stores.use(People1.self) { _, context in
            for number in 0..<300 { context.insert(People1.Person(name: "p\(number)", age: number)) }
            context.insert(People1.Badge(code: "b"))
            try context.save()
        }
        let before = try stores.rows()
        try stores.use(People2.self, migration: grace, clock: clock(1)) { container, context in
            #expect(container.migrationReport.gracePeriod?.until == 61)
            let people = try context.all(People2.Person.self)
            #expect(people.count == 300)
            for person in people.prefix(100) { person.fullName += "!" }
            try context.save()
            people.last.map { context.delete($0) }
            try context.save()
        }
        let refusal = refusal()
        #expect(refusal?.code == .commitsFollowed && refusal?.commits == 2)
        #expect(refusal?.message.hasPrefix("2 saves followed") == true)
        try stores.use(People2.self, clock: clock(5)) { _, context in
            let count = try context.fetchCount(FetchDescriptor<People2.Person>())
            #expect(count == 299)
        }
        #expect(try rollBack(discarding: true).commitsDiscarded == 2)
        #expect(try stores.rows() == before)
        #expect(try stores.findings(People1.self) == [])
        try stores.use(People1.self) { _, context in
            context.insert(People1.Person(name: "new", age: 1))
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<People1.Person>()) == 301)
        }
    }

    @Test func `nothing is kept unless that is asked for`() throws {
        try WorkStore.make(in: stores)
        try stores.use(Work2.self, WorkPlan.self) { container, _ in
            #expect(container.migrationReport.gracePeriod == nil && container.health.gracePeriod == nil)
            let period = try container.gracePeriod()
            #expect(period == nil)
        }
        #expect(refusal(discarding: true)?.code == .nothingKept)
    }

    @Test func `its end comes by the clock`() throws {
        try WorkStore.make(in: stores)
        try stores.use(Work2.self, WorkPlan.self, migration: grace, clock: clock(1)) { _, _ in }
        #expect(refusal(at: 61)?.code == .graceOver)
        #expect(refusal(at: 61)?.code == .nothingKept)
        try stores.use(Work2.self, WorkPlan.self, clock: clock(62)) { container, context in
            #expect(try container.gracePeriod() == nil)
            try WorkStore.check(context)
        }
    }

    @Test(arguments: [false, true]) func `ends on request, or at an opening after it`(isAsked: Bool) throws {
        try WorkStore.make(in: stores)
        try stores.use(Work2.self, WorkPlan.self, migration: grace, clock: clock(1)) { container, _ in
            guard isAsked else { return }
            try container.endGracePeriod()
            #expect(try container.gracePeriod() == nil)
        }
        try stores.use(Work2.self, WorkPlan.self, clock: clock(61)) { container, _ in
            let period = try container.gracePeriod()
            #expect(period == nil)
        }
    }

    @Test func `a store that is open is not rolled back`() throws {
        try WorkStore.make(in: stores)
        let container = try stores.open(Work2.self, WorkPlan.self, migration: grace, clock: clock(1))
        let error = #expect(throws: StorageError.self) { try rollBack() }
        #expect(error?.code == .lockedByAnother)
        try WorkStore.check(ModelContext(container))
        try container.close()
        #expect(try rollBack().to == "1.0.0")
    }

    @Test func `a state that no switch followed is no state to return to`() throws {
        try WorkStore.make(in: stores)
        let log = try Log.open(
            stores.directory, on: stores.disk, clock: clock(1), options: Stores.options, deriver: RowIndexDeriver())
        try log.keepState(for: 1_000_000_000_000)
        try log.close()
        #expect(refusal(discarding: true)?.code == .nothingKept)
        try stores.use(Work1.self, clock: clock(2)) { container, _ in
            let period = try container.gracePeriod()
            #expect(period == nil)
        }
    }

    @Test func `a duration beyond all clocks is for ever`() throws {
        var options = grace
        options.gracePeriod = .seconds(Int64.max)
        try WorkStore.make(in: stores)
        try stores.use(Work2.self, WorkPlan.self, migration: options, clock: clock(1)) { container, _ in
            #expect(container.migrationReport.gracePeriod?.until == Int(Int64.max / 1_000_000_000))
        }
        #expect(try rollBack(at: 1 << 32).to == "1.0.0")
    }
}
