import Faultline
import FaultlineDisk
import FaultlineMigration
import FaultlineStore
import Synchronization
import Testing

/// Objects that a streamed stage omits may be required by objects carried over as they are.
struct StreamedRuleTests {
    enum V1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Team.self, Player.self, Badge.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Team {
            var name: String
            @Relationship(minimumModelCount: 2, inverse: \Player.team) var players: [Player] = []
            @Relationship(minimumModelCount: 1) var badges: [Badge] = []
            init(name: String) { self.name = name }
        }

        @Model final class Player {
            var name: String
            var team: Team?
            init(name: String) { self.name = name }
        }

        @Model final class Badge {
            var name: String
            init(name: String) { self.name = name }
        }
    }

    enum V2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Team.self, Player.self, Badge.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Team {
            var name: String
            @Relationship(minimumModelCount: 2, inverse: \Player.team) var players: [Player] = []
            @Relationship(minimumModelCount: 1) var badges: [Badge] = []
            init(name: String) { self.name = name }
        }

        @Model final class Player {
            var name: String
            var number = 0
            var team: Team?
            init(name: String) { self.name = name }
        }

        @Model final class Badge {
            var name: String
            var number = 0
            init(name: String) { self.name = name }
        }
    }

    private enum Plan: SchemaMigrationPlan {
        /// Names of the objects that are omitted.
        @TaskLocal static var missing: Set<String> = []
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] {
            [
                .streamed(
                    fromVersion: V1.self, toVersion: V2.self,
                    StreamedEntity(V1.Player.self) { old, output in
                        if missing.contains(old.name) { return }
                        let new = V2.Player(name: old.name)
                        new.team = try old.team.flatMap { try output.object(migratedFrom: $0, as: V2.Team.self) }
                        try output.insert(new)
                    },
                    StreamedEntity(V1.Badge.self) { old, output in
                        if !missing.contains(old.name) { try output.insert(V2.Badge(name: old.name)) }
                    })
            ]
        }
    }

    /// Options with shares of two players, or of two badges.
    private func options(_ workerCount: Int) -> MigrationOptions {
        var options = MigrationOptions()
        options.workerCount = workerCount
        options.shareCount = 2
        return options
    }

    @Test(arguments: [("p5", "players"), ("b3", "badges")], [1, 2, 4])
    func `collections of what goes over as it is have members enough`(
        left: (name: String, property: String), workerCount: Int
    ) throws {
        let (missing, property) = left
        let options = options(workerCount)
        let stores = Stores()
        try makeTeams(in: stores)
        try Plan.$missing.withValue([missing]) {
            let report = try stores.preview(V2.self, Plan.self)
            #expect(report.failures.map(\.property) == [property])
            for _ in 0..<2 {
                let error = #expect(throws: MigrationError.self) {
                    try stores.open(V2.self, Plan.self, migration: options)
                }
                #expect(error?.code == .stageFailed && error?.stage == "1.0.0 → 2.0.0", "\(error?.description ?? "")")
                #expect(error?.entityName == "Team" && error?.propertyName == property)
                #expect(error?.object == (property == "players" ? 3 : 4))
            }
        }
        try stores.use(V1.self) { _, context in try #expect(context.fetchCount(FetchDescriptor<V1.Player>()) == 8) }
        try stores.use(V2.self, Plan.self, migration: options) { _, context in
            try #expect(context.all(V2.Team.self).map(\.players.count) == [2, 2, 2, 2])
            try #expect(context.all(V2.Team.self).map { $0.badges.map(\.name) } == [["b0"], ["b1"], ["b2"], ["b3"]])
        }
        #expect(try stores.findings(V2.self) == [])
    }

    /// Its worker has saved nothing, and no other worker may wait for its turn.
    @Test(.timeLimit(.minutes(5))) func `a dry run looks at rules behind a share without objects`() throws {
        let stores = Stores()
        try makeTeams(in: stores)
        try stores.use(V1.self) { _, context in
            for team in try context.all(V1.Team.self) where ["t2", "t3"].contains(team.name) {
                let members = team.players
                let badges = team.badges
                context.delete(team)
                for player in members { context.delete(player) }
                for badge in badges { context.delete(badge) }
            }
            try context.save()
        }
        let report = try stores.preview(V2.self, Plan.self, migration: options(1))
        #expect(report.failures.isEmpty)
        #expect(report.objectsRead == 6)
    }

    @Test(arguments: [1, 2, 4]) func `members may come batch by batch`(workerCount: Int) throws {
        let stores = Stores()
        try makeTeams(in: stores)
        var options = options(workerCount)
        options.shareCount = 1
        options.batchByteCount = 1
        let seen = Guarded<[MigrationProgress]>([])
        options.progress = { progress in seen.withLock { $0.append(progress) } }
        try stores.use(V2.self, Plan.self, migration: options) { _, context in
            try #expect(context.all(V2.Team.self).map(\.players.count) == [2, 2, 2, 2])
        }
        // Entities without such rules are not checked.
        let checked = seen.withLock { $0.filter { $0.pass == .validation } }
        #expect(Set(checked.map(\.entity)) == ["Team"])
        #expect(checked.last?.done == 4 && checked.last?.total == 4)
    }

    @Test func `an object with too few members goes into the quarantine, with what belongs to it`() throws {
        let stores = Stores()
        try makeTeams(in: stores)
        var options = MigrationOptions()
        options.onFailure = .quarantine()
        try Plan.$missing.withValue(["p5"]) {
            try stores.use(V2.self, Plan.self, migration: options) { container, context in
                let teams = try context.all(V2.Team.self)
                #expect(teams.map(\.name) == ["t0", "t1", "t3"])
                #expect(teams.map(\.players.count) == [2, 2, 2])
                #expect(container.migrationReport.quarantined.map(\.entity) == ["Team"])
                try #expect(context.all(V2.Player.self).filter { $0.team == nil }.map(\.name) == ["p4"])
            }
        }
        #expect(try stores.findings(V2.self) == [])
    }

    private func makeTeams(in stores: Stores) throws {
        try stores.use(V1.self) { _, context in
            for number in 0..<4 {
                let team = V1.Team(name: "t\(number)")
                context.insert(team)
                team.badges = [V1.Badge(name: "b\(number)")]
                team.players = [V1.Player(name: "p\(2 * number)"), V1.Player(name: "p\(2 * number + 1)")]
            }
            try context.save()
        }
    }
}
