import Faultline
import FaultlineTestSupport
import Foundation

@Model final class HarborPier {
    @Attribute(.unique) var name: String
    @Relationship(deleteRule: .cascade, inverse: \HarborBoat.pier) var boats: [HarborBoat] = []
    init(_ name: String) { self.name = name }
}

@Model final class HarborBoat {
    var name: String
    var plan: Data?
    var pier: HarborPier?
    init(_ name: String) { self.name = name }
}

@Model final class HarborVisit {
    @Attribute(.unique) var code: Int
    var note: String = ""
    init(_ code: Int) { self.code = code }
}

/// Two stores in one folder: "piers" has piers and boats, "visits" has the rest.
struct HarborStores {
    let folder = TemporaryDirectory()
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try Self.open(folder.path)
        context = ModelContext(container)
    }

    static func open(_ path: String) throws -> ModelContainer {
        try ModelContainer(
            for: HarborPier.self, HarborVisit.self,
            configurations: configuration("piers", path, Schema([HarborPier.self])), configuration("visits", path))
    }

    static func configuration(_ name: String, _ path: String, _ schema: Schema? = nil) -> ModelConfiguration {
        var configuration = ModelConfiguration(name, schema: schema, url: URL(filePath: "\(path)/\(name).store"))
        configuration.options.durability = .async
        return configuration
    }

    /// Two stores in memory.
    static func inMemory() throws -> ModelContainer {
        try ModelContainer(
            for: HarborPier.self, HarborVisit.self,
            configurations: ModelConfiguration("piers", schema: Schema([HarborPier.self]), isStoredInMemoryOnly: true),
            ModelConfiguration("visits", isStoredInMemoryOnly: true))
    }

    /// Closes both stores, and returns a context of both opened again.
    func reopened() throws -> ModelContext {
        try container.close()
        return ModelContext(try Self.open(folder.path))
    }
}
