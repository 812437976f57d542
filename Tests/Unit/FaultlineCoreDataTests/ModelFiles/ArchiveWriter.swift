import FaultlineCoreData

/// Writes keyed archives of models, with the classes and fields of Core Data.
struct ArchiveWriter {
    private var objects: [ListValue] = [.text("$null")]
    private var classes: [String: Int] = [:]
    static let null = ListValue.reference(0)

    /// Reserves the number of an object that others refer to before it is written.
    mutating func reserve() -> Int {
        objects.append(.null)
        return objects.count - 1
    }

    mutating func add(_ value: ListValue) -> ListValue {
        objects.append(value)
        return .reference(objects.count - 1)
    }

    mutating func text(_ text: String) -> ListValue { add(.text(text)) }

    /// Writes an object of a class that inherits from others.
    @discardableResult
    mutating func object(
        _ names: [String], _ fields: [(String, ListValue)], at number: Int? = nil
    ) -> ListValue {
        let name = names[0]
        let type = classes[name] ?? reserve()
        classes[name] = type
        objects[type] = .dictionary([
            ("$classname", .text(name)), ("$classes", .list((names + ["NSObject"]).map { .text($0) })),
        ])
        let number = number ?? reserve()
        objects[number] = .dictionary(fields + [("$class", .reference(type))])
        return .reference(number)
    }

    mutating func array(_ values: [ListValue]) -> ListValue { object(["NSArray"], [("NS.objects", .list(values))]) }

    mutating func dictionary(_ pairs: [(String, ListValue)]) -> ListValue {
        let keys = pairs.map { text($0.0) }
        return object(["NSDictionary"], [("NS.keys", .list(keys)), ("NS.objects", .list(pairs.map(\.1)))])
    }

    /// An attribute; its fields replace the usual ones.
    mutating func attribute(
        _ name: String, _ type: Int, _ fields: [(String, ListValue)] = [], of classes: [String] = []
    ) -> (String, ListValue) {
        let name = (name, text(name))
        let usual = [
            ("NSPropertyName", name.1), ("NSRenamingIdentifier", name.1), ("NSAttributeType", .integer(type)),
            ("NSDefaultValue", Self.null), ("NSFlagsKey", .integer(0)), ("_P", .integer(241)),
        ].filter { field in !fields.contains { $0.0 == field.0 } }
        return (name.0, object(classes + ["NSAttributeDescription", "NSPropertyDescription"], usual + fields))
    }

    mutating func relationship(
        _ name: String, to destination: String, inverse: String, _ fields: [(String, ListValue)]
    ) -> (String, ListValue) {
        let value = object(
            ["NSRelationshipDescription", "NSPropertyDescription"],
            [
                ("NSPropertyName", text(name)), ("NSRenamingIdentifier", text(name)), ("_P", .integer(243)),
                ("_NSDestinationEntityName", text(destination)), ("_NSInverseRelationshipName", text(inverse)),
            ] + fields)
        return (name, value)
    }

    mutating func entity(
        _ name: String, _ properties: [(String, ListValue)], _ fields: [(String, ListValue)] = [], at number: Int? = nil
    ) -> (String, ListValue) {
        let value = object(
            ["NSEntityDescription"],
            [
                ("NSEntityName", text(name)), ("NSClassNameForEntity", text(name)),
                ("NSProperties", dictionary(properties)),
            ]
                + fields, at: number)
        return (name, value)
    }

    /// The bytes of an archive with a model.
    mutating func model(_ entities: [(String, ListValue)], _ fields: [(String, ListValue)] = []) -> Data {
        let keys = array(entities.map { .text($0.0) })
        let values = array(entities.map(\.1))
        let mapping = object(["NSKnownKeysMappingStrategy1"], [("keys", keys), ("length", .integer(entities.count))])
        let names = object(["NSKnownKeysDictionary1"], [("searchMapping", mapping), ("values", values)])
        let root = object(["NSManagedObjectModel"], [("NSEntities", names)] + fields)
        return archive(root)
    }

    func archive(_ root: ListValue, version: Int = 100_000) -> Data {
        ListValue.dictionary([
            ("$version", .integer(version)), ("$archiver", .text("NSKeyedArchiver")),
            ("$top", .dictionary([("root", root)])), ("$objects", .list(objects)),
        ]).bytes
    }
}
