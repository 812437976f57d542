import Faultline
import FaultlineDisk
import Foundation
import Synchronization

/// The stage of `WorkPlan` by mappings and a policy, in place of code with access to both versions.
enum MappedWorkPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Work1.self, Work2.self] }
    static var stages: [MigrationStage] {
        [.mapped(fromVersion: Work1.self, toVersion: Work2.self, employees, cities)]
    }

    static var kept: Filter { .matching { ($0["number"] as? Int ?? 0) % 10 != 9 } }

    static var employees: MappingModel {
        MappingModel(
            EntityMapping(
                from: "Employee", to: "Employee",
                attributes: [
                    PropertyMapping("firstName", part(0)), PropertyMapping("lastName", part(1)),
                ],
                relationships: [
                    PropertyMapping("city", .counterparts(by: "cities")),
                    PropertyMapping("photo", .counterparts(by: "photos")),
                ], where: kept),
            EntityMapping(
                from: "Employee", to: "Photo", name: "photos", attributes: [PropertyMapping("bytes", .source("photo"))],
                where: kept && Filter.key("photo") != nil))
    }

    static var cities: MappingModel { cities(CityPolicy.self) }

    static func cities(_ policy: EntityMigrationPolicy.Type) -> MappingModel {
        MappingModel(EntityMapping(from: "Employee", to: "City", name: "cities", where: kept, policy: policy))
    }

    private static func part(_ place: Int) -> ValueExpression {
        .computed { source, _ in (source["name"] as? String)?.split(separator: " ")[place].description }
    }
}

/// Makes one city for all employees that name it.
class CityPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try PolicyNotes.current.stop?(sInstance)
        let name = sInstance["city"] as? String ?? ""
        let request = FetchRequest(entityName: "City", filter: Filter.key("name") == name)
        let city: ManagedObject
        if let found = try manager.destinationContext.fetch(request).first {
            city = found
        } else {
            city = try manager.destinationContext.insertNewObject(forEntityName: "City")
            city["name"] = name
        }
        city["lastNumber"] = sInstance["number"]
        try manager.associate(sourceInstance: sInstance, withDestinationInstance: city, for: mapping)
    }
}

/// Records the calls of a test's policies, and can stop them with an error.
final class PolicyNotes: Sendable {
    private let texts = Guarded<[String]>([])
    let stop: (@Sendable (ManagedObject) throws -> Void)?
    @TaskLocal static var current = PolicyNotes()

    init(stop: (@Sendable (ManagedObject) throws -> Void)? = nil) { self.stop = stop }

    func add(_ text: String) { texts.withLock { $0.append(text) } }
    var all: [String] { texts.withLock { $0 } }

    struct Stopped: Error {}
}

// MARK: Day and month of a time stamp

enum Event1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Event.self, Place.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Event {
        var title: String
        var timeStamp: Date
        var place: Place?
        init(title: String, timeStamp: Date) {
            self.title = title
            self.timeStamp = timeStamp
        }
    }

    @Model final class Place {
        var name: String
        @Relationship(inverse: \Event.place) var events: [Event] = []
        init(name: String) { self.name = name }
    }
}

enum Event2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Event.self, Place.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Event {
        var title: String
        var timeStamp: Date
        var day: Int
        var month: Int
        var place: Place?
        init(title: String, timeStamp: Date, day: Int, month: Int) {
            self.title = title
            self.timeStamp = timeStamp
            self.day = day
            self.month = month
        }
    }

    @Model final class Place {
        var name: String
        @Relationship(inverse: \Event.place) var events: [Event] = []
        init(name: String) { self.name = name }
    }
}

enum EventPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Event1.self, Event2.self] }
    static var stages: [MigrationStage] {
        [
            .mapped(
                fromVersion: Event1.self, toVersion: Event2.self,
                MappingModel(
                    EntityMapping(from: "Event", to: "Event", policy: DayPolicy.self),
                    EntityMapping(from: "Place", to: "Place", policy: NotingPolicy.self)))
        ]
    }
}

/// Records each call.
class NotingPolicy: EntityMigrationPolicy {
    func note(_ call: String, _ mapping: EntityMapping) { PolicyNotes.current.add("\(mapping.name) \(call)") }

    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws { note("begin", mapping) }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        note("create", mapping)
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }

    override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        note("endCreation", mapping)
    }

    override func createRelationships(
        forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        note("relate", mapping)
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    }

    override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        note("endRelation", mapping)
    }

    override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        note("validate", mapping)
        try PolicyNotes.current.stop?(
            manager.destinationContext.fetch(FetchRequest(entityName: mapping.destinationEntityName ?? ""))[0])
    }

    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws { note("end", mapping) }
}

/// Derives day and month, and leaves the rest to the mapping.
final class DayPolicy: NotingPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first, let time = sInstance["timeStamp"] as? Date
        else { return }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        made["day"] = calendar.component(.day, from: time)
        made["month"] = calendar.component(.month, from: time)
    }
}

/// Takes each employee's photo from its entity in code.
final class PhotoTakingPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let record = try manager.destinationContext.insertNewObject(forEntityName: "Record")
        record["title"] = sInstance["name"]
        record["minutes"] = 0
        let album = sInstance["album"] as? ManagedObject
        let cover = try manager.destinationContext.insertNewObject(forEntityName: "Cover")
        cover["caption"] = "taken"
        if let album { manager.moveBlob(from: album, "cover", to: cover, "bytes") }
        cover["record"] = record
        PolicyNotes.current.add("made")
        try PolicyNotes.current.stop?(sInstance)
    }
}

/// Saves at a point where only the migration may.
final class SavingPolicy: EntityMigrationPolicy {
    override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        try? manager.destinationContext.save()
    }
}

/// Makes one tag from all tags.
final class OneTagPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let found = try manager.destinationContext.fetch(FetchRequest(entityName: "Tag")).first
        let tag = try found ?? manager.destinationContext.insertNewObject(forEntityName: "Tag")
        tag["word"] = "tag"
        try manager.associate(sourceInstance: sInstance, withDestinationInstance: tag, for: mapping)
        // A second association has no further effect.
        try manager.associate(sourceInstance: sInstance, withDestinationInstance: tag, for: mapping)
    }
}
