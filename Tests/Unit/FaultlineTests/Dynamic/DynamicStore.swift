import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineStore
import FaultlineTestSupport
import Synchronization

/// A store in a temporary folder whose objects have no classes.
final class DynamicStore {
    let folder = TemporaryDirectory()
    private(set) var container: ModelContainer

    init(_ schema: Schema = DynamicStore.work) throws {
        container = try ModelContainer(for: schema, configurations: [Self.configuration(folder)])
    }

    static func configuration(_ folder: TemporaryDirectory) -> ModelConfiguration {
        var configuration = ModelConfiguration(url: URL(filePath: "\(folder.path)/dynamic.store"))
        configuration.options.durability = .async
        return configuration
    }

    /// Closes the store, opens it with the schema that it contains, and verifies it.
    func reopened() throws -> ModelContext {
        try container.close()
        container = try ModelContainer(opening: Self.configuration(folder))
        return ModelContext(container)
    }

    func findings() throws -> [String] {
        var findings: [String] = []
        try container.rowStore.log.verify({ findings.append("\($0)") }, progress: { _, _ in })
        return findings
    }

    /// Departments and people, with every kind of attribute and relationship.
    static var work: Schema {
        Schema(
            Schema.Entity(
                "Department",
                properties: Schema.Attribute(name: "name", options: [.unique], valueType: String.self),
                Schema.Attribute(name: "budget", valueType: Decimal?.self),
                Schema.Relationship(
                    name: "people", destination: "Person", isToOne: false, deleteRule: .cascade,
                    inverseName: "department")),
            Schema.Entity(
                "Person",
                properties: Schema.Attribute(name: "name", valueType: String.self),
                Schema.Attribute(name: "age", valueType: Int?.self),
                Schema.Attribute(name: "shoe", valueType: Int8.self, defaultValue: Int8(40)),
                Schema.Attribute(name: "height", valueType: Double?.self),
                Schema.Attribute(name: "born", valueType: Date?.self),
                Schema.Attribute(name: "key", valueType: UUID?.self),
                Schema.Attribute(name: "page", valueType: URL?.self),
                Schema.Attribute(name: "photo", options: [.externalStorage], valueType: Data?.self),
                Schema.Attribute(name: "tags", valueType: [String]?.self),
                Schema.Relationship(
                    name: "department", destination: "Department", isToOne: true, inverseName: "people"),
                Schema.Relationship(name: "friends", destination: "Person", isToOne: false, inverseName: "friendOf"),
                Schema.Relationship(name: "friendOf", destination: "Person", isToOne: false, inverseName: "friends")),
            version: Schema.Version(1, 0, 0))
    }
}

extension ModelContext {
    func make(_ entity: String, _ values: [String: Any?]) throws -> ManagedObject {
        let object = try insertNewObject(forEntityName: entity)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    func named(_ name: String, _ entity: String = "Person") throws -> ManagedObject? {
        try fetch(FetchRequest(entityName: entity, filter: Filter.key("name") == name)).first
    }

    /// Collects the errors that getters and setters report.
    func reports() -> Reports {
        let reports = Reports()
        errorHandler = { error in reports.add("\(error)") }
        return reports
    }
}

final class Reports: Sendable {
    private let texts = Guarded<[String]>([])
    func add(_ text: String) { texts.withLock { $0.append(text) } }
    var all: [String] { texts.withLock { $0 } }
}
