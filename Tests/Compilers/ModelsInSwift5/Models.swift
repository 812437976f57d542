// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

public import Faultline

enum Level: String, Codable {
    case junior, senior
}

nonisolated struct Address: Codable, Equatable {
    var city = "Rome"
}

struct Badge: Equatable {
    var number = 0
}

@Model final class Employee {
    #Unique<Employee>([\.name], [\.name, \.level])
    #Index<Employee>([\.grade])

    var name: String
    var level: Level = .junior
    var grade: Int = 1
    var nickname: String?
    var nicknames: [String] = []
    var address: Address = .init()
    @Attribute(.unique, originalName: "mail") var email: String!
    var department: Department?
    @Relationship(deleteRule: .cascade, inverse: \Task.owner) var tasks: [Task] = []
    var `default` = 2.5
    private var secret: Data = Data([1])
    @Transient var cache = 0
    @Transient var note: String?
    lazy var slow = 3
    static let limit = 4
    var doubled: Int { grade * 2 }

    init(name: String) {
        self.name = name
    }

    init(grade: Int, department: Department) {
        self.grade = grade
        self.department = department
        self.department = nil
        name = "none"
        self.grade += 1
    }

    func revealed() -> Data { secret }
}

@Model final class Task {
    var title: String
    var owner: Employee?

    init(title: String) {
        self.title = title
    }
}

/// A public model.
///
/// Its accessors are public, and its internal relationship stays internal.
@Model public final class Department {
    /// An attribute of a public model.
    public var name: String
    /// A required relationship of a public model.
    public var head: Place
    var employees: [Employee]? = []

    /// Creates a department.
    public init(name: String, head: Place) {
        self.name = name
        self.head = head
    }
}

/// A model that is `Codable` itself.
///
/// Its relationships must not become attributes because of that.
@Model public class Place: Codable {
    var city = "Rome"
    var neighbours: [Place] = []
    var capital: Place?

    init() {}

    /// Decodes nothing, because only the conformance matters.
    public required init(from decoder: any Decoder) throws {}
    /// Encodes nothing.
    public func encode(to encoder: any Encoder) throws {}
}

enum SchemaV1 {
    @Model final class Item {
        var title: String
        init(title: String) { self.title = title }
    }
}

enum SchemaV2 {
    @Model final class Item {
        var title: String
        var count: Int = 0
        #Index([\Item.count])
        #Index<Item>(.binary([\.title]), .rtree([\.count, \.title]))
        init(title: String) { self.title = title }
    }
}

extension SchemaV2 {
    @Model final class Extra {
        #if DEBUG
        var count: Int
        #else
        var count: Int?
        #endif
        init() { count = 0 }
    }
}

@ModelActor actor Worker {
    var count = 0
    func container() -> ModelContainer { modelContext.container }
}

/// A public actor with its own initializer, so that the macro must not generate one.
@ModelActor public actor PublicWorker {
    let size: Int
    /// Sets the properties that the macro declares, as hand-written code does.
    public init(modelContainer: ModelContainer, size: Int) {
        self.size = size
        self.modelContainer = modelContainer
        self.modelExecutor = DefaultSerialModelExecutor(modelContext: ModelContext(modelContainer))
    }
}
