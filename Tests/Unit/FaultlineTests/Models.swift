import Faultline

enum Rank: Int, Codable, CaseIterable { case low = 1, middle = 5, high = 9 }
enum Color: String, Codable, CaseIterable { case red, green, blue }
enum Shape: Codable, Equatable {
    case point
    case circle(radius: Double)
    case named(String, [Int])
}
struct Place: Codable, Equatable {
    var city = "Rome"
    var position: Position? = nil
    var tags: [String] = []
    struct Position: Codable, Equatable {
        var x = 0.0
        var y = 0.0
    }
}

@Model final class Scalars {
    var bool: Bool = false
    var int: Int = 0
    var int8: Int8 = 0
    var int16: Int16 = 0
    var int32: Int32 = 0
    var int64: Int64 = 0
    var uint: UInt = 0
    var uint8: UInt8 = 0
    var uint16: UInt16 = 0
    var uint32: UInt32 = 0
    var uint64: UInt64 = 0
    var float: Float = 0
    var double: Double = 0
    var string: String = ""
    var date: Date = Date(timeIntervalSinceReferenceDate: 0)
    var uuid: UUID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    var url: URL = URL(filePath: "/")
    var decimal: Decimal = 0
    var data: Data = Data()
    var rank: Rank = Rank.low
    var color: Color = Color.red
    var place: Place = Place()
    var shape: Shape = Shape.point
    var numbers: [Int] = []
    var dictionary: [String: Double] = [:]
    @Transient var scratch = 7

    init() {}
}

@Model final class Optionals {
    var bool: Bool?
    var int: Int?
    var int8: Int8?
    var uint64: UInt64?
    var float: Float?
    var double: Double?
    var string: String?
    var date: Date?
    var uuid: UUID?
    var url: URL?
    var decimal: Decimal?
    var data: Data?
    var rank: Rank?
    var color: Color?
    var place: Place?
    var shape: Shape?
    var numbers: [Int]?
    var named: String = "default name"
    var preset: Int? = 42

    init() {}
}

@Model final class Folder {
    var name: String
    // The inverses of these two are inferred, or declared on the other side.
    var parent: Folder?
    @Relationship(deleteRule: .cascade, inverse: \Folder.parent) var folders: [Folder] = []
    @Relationship(deleteRule: .cascade, inverse: \Document.folder) var documents: [Document] = []

    init(_ name: String) { self.name = name }
}

@Model final class Document {
    var title: String
    var number: Int = 0
    var folder: Folder?
    @Relationship(deleteRule: .nullify, inverse: \Label.documents) var labels: [Label] = []
    @Relationship(deleteRule: .cascade, inverse: \Body.document) var body: Body?

    init(_ title: String, number: Int = 0) {
        self.title = title
        self.number = number
    }
}

@Model final class Label {
    var text: String
    var documents: [Document] = []

    init(_ text: String) { self.text = text }
}

@Model final class Body {
    var bytes: Data = Data()
    var document: Document?

    init(_ bytes: Data = Data()) { self.bytes = bytes }
}

@Model final class Playlist {
    var name: String
    // Without an inverse: a song has no property for its playlists.
    @Relationship var songs: [Song] = []
    @Relationship var favourite: Song?

    init(_ name: String) { self.name = name }
}

@Model final class Song {
    var name: String

    init(_ name: String) { self.name = name }
}

@Model final class Company {
    var name: String
    @Relationship(deleteRule: .deny, inverse: \Worker.company) var workers: [Worker] = []
    @Relationship(deleteRule: .noAction, inverse: \Visitor.company) var visitors: [Visitor]? = nil

    init(_ name: String) { self.name = name }
}

@Model final class Worker {
    var name: String
    var company: Company?

    init(_ name: String) { self.name = name }
}

@Model final class Visitor {
    var name: String
    var company: Company?

    init(_ name: String) { self.name = name }
}

@Model final class User {
    #Unique<User>([\.first, \.last])

    @Attribute(.unique) var email: String
    var first: String?
    var last: String?
    var age: Int = 0
    var team: Team?
    @Relationship(inverse: \User.deputyOf) var deputy: User?
    var deputyOf: User?

    init(_ email: String, first: String? = nil, last: String? = nil, age: Int = 0, team: Team? = nil) {
        self.email = email
        self.first = first
        self.last = last
        self.age = age
        self.team = team
    }
}

@Model final class Team {
    @Attribute(.unique) var name: String
    @Relationship(inverse: \User.team) var users: [User] = []

    init(_ name: String) { self.name = name }
}

/// A class with stored properties of its own before and after the library's.
@Model final class Cached {
    @Transient var before: [Int] = [1, 2, 3]
    var value: Int = 0
    @Transient var behind = "text"
    var next: Cached?

    init(_ value: Int) { self.value = value }
}

@Model final class Photo {
    var name: String
    var small: Data = Data()
    var large: Data = Data()
    @Attribute(.externalStorage) var external: Data? = nil

    init(_ name: String) { self.name = name }
}

@Model final class Hall {
    @Attribute(.unique) var name: String

    init(_ name: String) { self.name = name }
}

@Model final class Seat {
    #Unique<Seat>([\.row, \.hall])

    var row: Int
    var hall: Hall?
    var note: String = ""

    init(_ row: Int, _ hall: Hall) {
        self.row = row
        self.hall = hall
    }
}
