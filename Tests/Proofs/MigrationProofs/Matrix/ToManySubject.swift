import Faultline
import FaultlineMigration
import Foundation

enum ToMany1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Group.self, Member.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Group {
        var number: Int
        @Relationship(inverse: \Member.group) var members: [Member] = []
        init(number: Int) { self.number = number }
    }

    @Model final class Member {
        var number: Int
        var name: String
        var group: Group?
        init(number: Int, name: String, group: Group) {
            self.number = number
            self.name = name
            self.group = group
        }
    }
}

/// The same with an initial.
enum ToMany2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Group.self, Member.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Group {
        var number: Int
        @Relationship(inverse: \Member.group) var members: [Member] = []
        init(number: Int) { self.number = number }
    }

    @Model final class Member {
        var number: Int
        var name: String
        var initial: String = ""
        var group: Group?
        init(number: Int, name: String, initial: String) {
            self.number = number
            self.name = name
            self.initial = initial
        }
    }
}

/// The first version with members of any number of groups: a lightweight stage, which makes a link for each member.
enum ToManyLinked: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Group.self, Member.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Group {
        var number: Int
        @Relationship(inverse: \Member.groups) var members: [Member] = []
        init(number: Int) { self.number = number }
    }

    @Model final class Member {
        var number: Int
        var name: String
        @Relationship(originalName: "group") var groups: [Group] = []
        init(number: Int, name: String) {
            self.number = number
            self.name = name
        }
    }
}

enum ToManyLinkingPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [ToMany1.self, ToManyLinked.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: ToMany1.self, toVersion: ToManyLinked.self)] }
}

/// Sets the initial of each member.
final class MemberPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let member = try manager.destinationContext.insertNewObject(forEntityName: "Member")
        member["number"] = sInstance["number"]
        member["name"] = sInstance["name"]
        member["initial"] = (sInstance["name"] as? String).map { String($0.prefix(1)) }
        try manager.associate(sourceInstance: sInstance, withDestinationInstance: member, for: mapping)
    }
}

enum ToManyPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [ToMany1.self, ToMany2.self] }
    static var stages: [MigrationStage] {
        [
            MatrixKind.stage(
                from: ToMany1.self, to: ToMany2.self, streamed: { streamed },
                mapped: MappingModel(
                    EntityMapping(from: "Group", to: "Group"),
                    EntityMapping(
                        from: "Member", to: "Member", attributes: [PropertyMapping("initial", .constant("M"))])),
                policy: MappingModel(
                    EntityMapping(from: "Group", to: "Group"),
                    EntityMapping(from: "Member", to: "Member", policy: MemberPolicy.self)),
                custom: { context in
                    try saveInBatches(context, ToMany2.Member.self) { $0.initial = String($0.name.prefix(1)) }
                    try saveInBatches(context, ToMany2.Group.self, every: 1) { group in
                        group.number = group.relationship(\.members).reduce(0) { max($0, $1.number) }
                    }
                    try saveInBatches(context, ToMany2.Group.self, every: 1) { group in
                        group.number /= ToManySubject.membersOfGroup
                    }
                })
        ]
    }

    /// Makes the members, then reads and sets those of each group one at a time.
    private static var streamed: MigrationStage {
        .streamed(
            fromVersion: ToMany1.self, toVersion: ToMany2.self,
            StreamedEntity(ToMany1.Member.self) { old, output in
                let name = old.name
                try output.insert(ToMany2.Member(number: old.number, name: name, initial: String(name.prefix(1))))
            },
            StreamedEntity(ToMany1.Group.self) { old, output in
                let new = ToMany2.Group(number: old.number)
                try output.insert(new)
                for member in old.relationship(\.members) {
                    guard let made = try output.object(migratedFrom: member, as: ToMany2.Member.self) else { continue }
                    new.relationship(\.members).insert(made)
                }
            })
    }
}

enum ToManySubject: MatrixSubject {
    static let membersOfGroup = 300_000

    static var oldModels: [any PersistentModel.Type] { ToMany1.models }
    static func newModels(_ kind: MatrixCell.Kind) -> [any PersistentModel.Type] {
        kind == .lightweight ? ToManyLinked.models : ToMany2.models
    }
    static func plan(_ kind: MatrixCell.Kind) -> any SchemaMigrationPlan.Type {
        kind == .lightweight ? ToManyLinkingPlan.self : ToManyPlan.self
    }

    static func fill(_ context: ModelContext, _ size: Int) throws {
        var group = ToMany1.Group(number: 0)
        for number in 0..<size {
            if number % membersOfGroup == 0 {
                group = ToMany1.Group(number: number / membersOfGroup)
                context.insert(group)
            }
            context.insert(ToMany1.Member(number: number, name: "Member \(number)", group: group))
            if number % 10_000 == 9_999 { try context.save() }
        }
        try context.save()
    }

    static func isRight(_ context: ModelContext, _ size: Int, _ kind: MatrixCell.Kind) throws -> Bool {
        let groupCount = (size + membersOfGroup - 1) / membersOfGroup
        // The same members as before, in the same order.
        func hasAll(_ group: Int, _ members: some Sequence<Int>) -> Bool {
            let first = group * membersOfGroup
            return members.elementsEqual(first..<min(first + membersOfGroup, size))
        }
        guard kind != .lightweight else {
            let groups = try context.fetch(FetchDescriptor<ToManyLinked.Group>())
            return try groups.count == groupCount
                && groups.allSatisfy { hasAll($0.number, $0.relationship(\.members).lazy.map(\.number)) }
                && context.fetchCount(FetchDescriptor<ToManyLinked.Member>()) == size
        }
        let groups = try context.fetch(FetchDescriptor<ToMany2.Group>())
        return try groups.count == groupCount
            && groups.allSatisfy { hasAll($0.number, $0.relationship(\.members).lazy.map(\.number)) }
            && context.fetchCount(FetchDescriptor<ToMany2.Member>(predicate: #Predicate { $0.initial == "M" })) == size
    }
}
