import Faultline
import Foundation
import Testing

/// Mappings without code, with objects of the old schema.
struct RowMappingCase: Sendable, CustomTestStringConvertible {
    private typealias Change = SchemaChange
    private typealias Sample = SchemaChange.Sample

    let name: String
    let old: Schema
    let new: Schema
    let model: MappingModel
    let objects: [SchemaChange.Sample]
    /// Objects that are deleted before the migration.
    let deleted: [String]
    /// Whether some relationships are set on objects.
    let relates: Bool
    /// Whether the rows name values outside of them, whose numbers may differ.
    var hasBlobs = false

    var testDescription: String { name }

    private init(
        _ name: String, _ old: [Schema.Entity], _ new: [Schema.Entity], _ mappings: [EntityMapping],
        _ objects: [Sample], deleted: [String] = [], relates: Bool = false
    ) {
        self.name = name
        self.old = Schema(entities: old)
        self.new = Schema(entities: new, version: Schema.Version(2, 0, 0))
        model = MappingModel(entityMappings: mappings)
        self.objects = objects
        self.deleted = deleted
        self.relates = relates
    }

    private static func map(_ name: String, to new: String? = nil) -> EntityMapping {
        EntityMapping(from: name, to: new ?? name)
    }

    static let all = values + references + [links, oneToOne, filtered, filteredTarget, orderedByOwner]

    // MARK: Values

    private static let values = [kinds, changed, constants, large, shared, indexed]

    private static let kinds: RowMappingCase = {
        func thing(_ extra: any SchemaProperty...) -> Schema.Entity {
            let thing = Change.entity(
                "Thing", Change.value("flag", Bool.self, default: true), Change.value("tiny", Int8?.self),
                Change.value("small", UInt16?.self), Change.value("large", UInt64?.self),
                Change.value("half", Float?.self), Change.value("date", Date?.self), Change.value("uuid", UUID?.self),
                Change.value("sum", Decimal?.self), Change.value("text", String?.self),
                Change.value("link", URL?.self), Change.value("bytes", Data?.self),
                Change.value("parts", [String]?.self))
            return Schema.Entity("Thing", subentities: [], properties: thing.properties + extra)
        }
        return RowMappingCase(
            "values of all kinds", [thing()], [thing(Change.value("added", String.self, default: "new"))],
            [map("Thing")],
            [
                Sample(
                    "Thing", "full",
                    [
                        "flag": false, "tiny": -3, "small": 65_535, "large": UInt64.max, "half": Float(0.5),
                        "date": Date(timeIntervalSinceReferenceDate: 1.25), "uuid": UUID(), "sum": Decimal(12.5),
                        "text": "é, e\u{301}, 日本", "link": URL(string: "https://example.org/a?b"),
                        "bytes": Data([1, 0, 2]), "parts": ["a", "b"],
                    ]),
                Sample("Thing", "empty"), Sample("Thing", "long", ["text": String(repeating: "t", count: 3_000)]),
            ])
    }()

    private static let changed = RowMappingCase(
        "renamed and wider attributes, in another order, and nil that becomes a default",
        [
            Change.entity(
                "Thing", Change.value("a", Int32.self), Change.value("b", UInt8.self), Change.value("c", Float.self),
                Change.value("d", String?.self), Change.value("e", Int?.self), Change.value("f", String.self))
        ],
        [
            Change.entity(
                "Good", Change.value("e", Int.self, default: 5), Change.value("f", String?.self),
                Change.value("word", String?.self, was: "d"), Change.value("c", Double.self),
                Change.value("b", Int64.self), Change.value("number", Int.self, was: "a"), was: "Thing")
        ],
        [map("Thing", to: "Good")],
        [
            Sample("Thing", "1", ["a": Int32.min, "b": UInt8.max, "c": Float(0.25), "d": "d", "e": 7, "f": "f"]),
            Sample("Thing", "2", ["a": 3, "b": 0, "c": Float(-1), "f": ""]),
        ])

    private static let constants = RowMappingCase(
        "constants, nil, and a default instead of the value",
        [Change.entity("Thing", Change.value("a", Int.self), Change.value("b", String?.self))],
        [
            Change.entity(
                "Thing", Change.value("a", Int.self, default: 4), Change.value("b", String?.self, default: "b"),
                Change.value("c", Double.self), Change.value("d", [String].self, default: ["x"]))
        ],
        [
            EntityMapping(
                from: "Thing", to: "Thing",
                attributes: [
                    PropertyMapping("a", nil), PropertyMapping("b", .constant(nil)), PropertyMapping("c", .constant(1)),
                    PropertyMapping("d", .constant(["y", "z"])),
                ])
        ],
        [Sample("Thing", "1", ["a": 1, "b": "b"]), Sample("Thing", "2", ["a": 2])])

    private static let large: RowMappingCase = {
        var item = RowMappingCase(
            "values outside of the row",
            [
                Change.entity(
                    "Thing", Change.value("photo", Data?.self, .externalStorage), Change.value("text", String?.self),
                    Change.value("mark", String?.self))
            ],
            [
                Change.entity(
                    "Thing", Change.value("added", Int.self, default: 0), Change.value("text", String?.self),
                    Change.value("mark", String?.self), Change.value("photo", Data?.self, .externalStorage),
                    indices: [["mark"]])
            ],
            [map("Thing")],
            [
                Sample(
                    "Thing", "1",
                    [
                        "photo": Data(repeating: 1, count: 70_000), "text": String(repeating: "é", count: 30_000),
                        "mark": String(repeating: "m", count: 20_000),
                    ]),
                Sample("Thing", "2", ["photo": Data(repeating: 2, count: 10), "text": "t", "mark": "m"]),
                Sample("Thing", "3"),
            ])
        item.hasBlobs = true
        return item
    }()

    /// A value has one owner: the others get copies.
    private static let shared: RowMappingCase = {
        func photo(_ name: String = "photo") -> Schema.Attribute { Change.value(name, Data?.self, .externalStorage) }
        var item = RowMappingCase(
            "one value outside of the row for two attributes, and for two objects", [Change.entity("Thing", photo())],
            [Change.entity("Thing", photo(), photo("second")), Change.entity("Picture", photo())],
            [
                EntityMapping(from: "Thing", to: "Thing", attributes: [PropertyMapping("second", .source("photo"))]),
                map("Thing", to: "Picture"),
            ],
            [Sample("Thing", "1", ["photo": Data(repeating: 1, count: 70_000)]), Sample("Thing", "2")])
        item.hasBlobs = true
        return item
    }()

    private static let indexed = RowMappingCase(
        "unique keys, also of references, and an index",
        [
            Change.entity("Thing", Change.value("code", String.self), Change.one("box", "Box", inverse: "things")),
            Change.entity("Box", Change.many("things", "Thing", inverse: "box")),
        ],
        [
            Change.entity(
                "Thing", Change.value("code", String.self), Change.one("box", "Box", inverse: "things"),
                unique: [["n"], ["box", "code"]], indices: [["code"]]),
            Change.entity("Box", Change.many("things", "Thing", inverse: "box")),
        ],
        [map("Thing"), map("Box")],
        [
            Sample("Box", "b1"), Sample("Box", "b2"), Sample("Thing", "1", ["code": "x"], to: ["box": ["b1"]]),
            Sample("Thing", "2", ["code": "x"], to: ["box": ["b2"]]), Sample("Thing", "3", ["code": "x"]),
            Sample("Thing", "4", ["code": "x"]),
        ])

    // MARK: Relationships

    private static let references = [
        collection, carriedOver, required, oneWay, dangling, danglingToCarried, toNone,
    ]

    private static func people(_ extra: any SchemaProperty...) -> [Schema.Entity] {
        let person = Change.entity(
            "Person", Change.one("team", "Team", inverse: "people"), Change.one("boss", "Person", inverse: "staff"),
            Change.many("staff", "Person", inverse: "boss"))
        return [
            Schema.Entity("Person", subentities: [], properties: person.properties + extra),
            Change.entity("Team", Change.many("people", "Person", inverse: "team")),
        ]
    }

    /// The members of teams have positions that differ from the order of their numbers.
    private static let staff = [
        Sample("Person", "p1"), Sample("Person", "p2", to: ["boss": ["p1"]]), Sample("Person", "p3"),
        Sample("Person", "p4", to: ["boss": ["p4"]]), Sample("Person", "p5", to: ["staff": ["p3", "p1"]]),
        Sample("Team", "t1", to: ["people": ["p3", "p1", "p2"]]), Sample("Team", "t2", to: ["people": ["p4"]]),
        Sample("Team", "t3"),
    ]

    private static let collection = RowMappingCase(
        "references to one, with positions in collections, and to the same entity", people(),
        people(Change.value("added", Int.self, default: 1)), [map("Person"), map("Team")], staff)

    private static let carriedOver = RowMappingCase(
        "references to objects that are carried over", people(), people(Change.value("added", Int.self, default: 1)),
        [map("Person")], staff)

    private static let required = RowMappingCase(
        "required references",
        [
            Change.entity("Part", Change.one("whole", "Whole", inverse: "parts", isOptional: false)),
            Change.entity("Whole", Change.many("parts", "Part", inverse: "whole")),
        ],
        [
            Change.entity(
                "Piece", Change.one("all", "Whole", inverse: "parts", isOptional: false, was: "whole"), was: "Part"),
            Change.entity("Whole", Change.many("parts", "Piece", inverse: "all")),
        ],
        [map("Part", to: "Piece"), map("Whole")],
        [Sample("Whole", "w1"), Sample("Part", "1", to: ["whole": ["w1"]]), Sample("Part", "2", to: ["whole": ["w1"]])])

    private static let oneWay = RowMappingCase(
        "references without an inverse",
        [Change.entity("From", Change.one("to", "To")), Change.entity("To")],
        [Change.entity("From", Change.one("to", "To"), Change.value("x", Int.self, default: 0)), Change.entity("To")],
        [map("From"), map("To")],
        [Sample("To", "t1"), Sample("To", "t2"), Sample("From", "1", to: ["to": ["t2"]]), Sample("From", "2")])

    private static func dangling(_ name: String, _ mappings: EntityMapping...) -> RowMappingCase {
        RowMappingCase(
            name, [Change.entity("From", Change.one("to", "To")), Change.entity("To")],
            [
                Change.entity("From", Change.one("to", "To"), Change.value("x", Int.self, default: 0)),
                Change.entity("To"),
            ],
            mappings,
            [
                Sample("To", "t1"), Sample("To", "t2"), Sample("To", "t3"), Sample("From", "1", to: ["to": ["t2"]]),
                Sample("From", "2", to: ["to": ["t3"]]), Sample("From", "3", to: ["to": ["t1"]]),
            ], deleted: ["t2", "t3"])
    }

    private static let dangling = dangling("references to deleted objects", map("From"), map("To"))

    private static let danglingToCarried = dangling("references to deleted objects that are carried over", map("From"))

    /// The old numbers belong to no new objects.
    private static let toNone: RowMappingCase = {
        var none = map("To")
        none.mappingType = .add
        return RowMappingCase(
            "references to objects that their mapping does not make",
            [Change.entity("From", Change.one("to", "To")), Change.entity("To")],
            [
                Change.entity("From", Change.one("to", "To"), Change.value("x", Int.self, default: 0)),
                Change.entity("To"),
            ], [map("From"), none], [Sample("To", "t1"), Sample("From", "1", to: ["to": ["t1"]])], relates: true)
    }()

    private static let links: RowMappingCase = {
        func notes(_ extra: any SchemaProperty...) -> [Schema.Entity] {
            let note = Change.entity(
                "Note", Change.many("tags", "Tag", inverse: "notes"), Change.many("own", "Tag"),
                Change.one("box", "Box", inverse: "notes"))
            return [
                Schema.Entity("Note", subentities: [], properties: note.properties + extra),
                Change.entity("Tag", Change.many("notes", "Note", inverse: "tags")),
                Change.entity("Box", Change.many("notes", "Note", inverse: "box")),
            ]
        }
        return RowMappingCase(
            "relationships to many beside one to one", notes(), notes(Change.value("x", Int.self, default: 0)),
            [map("Note"), map("Tag"), map("Box")],
            [
                Sample("Box", "b"), Sample("Tag", "t1"), Sample("Tag", "t2"), Sample("Tag", "t3"),
                Sample("Note", "n1", to: ["tags": ["t3", "t1"], "own": ["t2", "t1"], "box": ["b"]]),
                Sample("Note", "n2", to: ["tags": ["t1", "t2", "t3"]]), Sample("Note", "n3", to: ["box": ["b"]]),
            ], relates: true)
    }()

    private static let oneToOne = RowMappingCase(
        "relationships from one to one, which both sides store",
        [
            Change.entity("Key", Change.one("lock", "Lock", inverse: "key")),
            Change.entity("Lock", Change.one("key", "Key", inverse: "lock")),
        ],
        [
            Change.entity("Key", Change.one("lock", "Lock", inverse: "key"), Change.value("x", Int.self, default: 0)),
            Change.entity("Lock", Change.one("key", "Key", inverse: "lock")),
        ],
        [map("Key"), map("Lock")],
        [Sample("Lock", "l1"), Sample("Lock", "l2"), Sample("Key", "k1", to: ["lock": ["l2"]]), Sample("Key", "k2")],
        relates: true)

    private static let filtered = RowMappingCase(
        "a filter that rows answer", people(), people(Change.value("added", Int.self, default: 1)),
        [EntityMapping(from: "Person", to: "Person", where: Filter.key("n") != "p2"), map("Team")],
        staff, relates: true)

    /// A reference to an object that the filter leaves out is none.
    private static let filteredTarget = RowMappingCase(
        "a filter on the objects that others refer to",
        [Change.entity("From", Change.one("to", "To")), Change.entity("To")],
        [Change.entity("From", Change.one("to", "To"), Change.value("x", Int.self, default: 0)), Change.entity("To")],
        [map("From"), EntityMapping(from: "To", to: "To", where: Filter.key("n") == "t1")],
        [
            Sample("To", "t1"), Sample("To", "t2"), Sample("From", "1", to: ["to": ["t2"]]),
            Sample("From", "2", to: ["to": ["t1"]]),
        ], relates: true)

    private static let orderedByOwner = RowMappingCase(
        "a collection that a mapping sets beside its inverse", people(),
        people(Change.value("added", Int.self, default: 1)),
        [
            map("Person"),
            EntityMapping(
                from: "Team", to: "Team", relationships: [PropertyMapping("people", .destinations(of: "people"))]),
        ], staff, relates: true)
}
