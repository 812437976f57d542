import Faultline

extension SchemaChange {
    private static var seven: [Sample] { [Sample("A", "a", ["x": 7]), Sample("A", "b", ["x": 8])] }
    private static var some: [Sample] { [Sample("A", "a", ["x": 7]), Sample("A", "b")] }
    private static let number = value("x", Int.self)
    private static let optional = value("x", Int?.self)

    static var ofAttributes: [SchemaChange] {
        [
            SchemaChange(
                "an optional attribute is added", [entity("A")], [entity("A", optional)], ["A.x: lightweight"],
                [Sample("A", "a")], gives: ["A a x=nil"]),
            SchemaChange(
                "an optional attribute with a default is added", [entity("A")],
                [entity("A", value("x", Int?.self, default: 5))], ["A.x: lightweight"], [Sample("A", "a")],
                gives: ["A a x=5"]),
            SchemaChange(
                "a required attribute with a default is added", [entity("A")],
                [entity("A", value("x", String.self, default: "none"))], ["A.x: lightweight"], [Sample("A", "a")],
                gives: ["A a x=none"]),
            SchemaChange(
                refusing: "a required attribute without a default is added", [entity("A")], [entity("A", number)],
                ["A.x: needs a default value"], [Sample("A", "a")]),
            SchemaChange(
                "an attribute is removed", [entity("A", number)], [entity("A")], ["A.x: lightweight"], seven,
                gives: ["A a", "A b"]),
            SchemaChange(
                "an attribute is renamed", [entity("A", number)], [entity("A", value("y", Int.self, was: "x"))],
                ["A.y: lightweight"], seven, gives: ["A a y=7", "A b y=8"]),
            SchemaChange(
                "a required attribute becomes optional", [entity("A", number)], [entity("A", optional)],
                ["A.x: lightweight"], seven, gives: ["A a x=7", "A b x=8"]),
            SchemaChange(
                "an optional attribute becomes required, with a default", [entity("A", optional)],
                [entity("A", value("x", Int.self, default: 1))], ["A.x: lightweight", "A.x: lightweight"], some,
                gives: ["A a x=7", "A b x=1"]),
            SchemaChange(
                refusing: "an optional attribute becomes required, without a default", [entity("A", optional)],
                [entity("A", number)], ["A.x: needs a default value"], some),
            SchemaChange(
                "only the default changes", [entity("A", value("x", Int.self, default: 1))],
                [entity("A", value("x", Int.self, default: 2))], ["A.x: lightweight"], [Sample("A", "a")],
                gives: ["A a x=1"]),
            SchemaChange(
                refusing: "numbers become text", [entity("A", number)], [entity("A", value("x", String.self))],
                ["A.x: needs a migration stage"], seven),
            SchemaChange(
                refusing: "text becomes dates", [entity("A", value("x", String.self))],
                [entity("A", value("x", Date.self))], ["A.x: needs a migration stage"]),
            SchemaChange(
                "integers grow wider", [entity("A", value("x", Int16.self), value("y", UInt8.self))],
                [entity("A", value("x", Int.self), value("y", Int.self))], ["A.x: lightweight", "A.y: lightweight"],
                [Sample("A", "a", ["x": Int16.min, "y": UInt8.max])], gives: ["A a x=-32768 y=255"]),
            SchemaChange(
                "floats become doubles", [entity("A", value("x", Float.self))], [entity("A", value("x", Double.self))],
                ["A.x: lightweight"], [Sample("A", "a", ["x": Float(1.5)])], gives: ["A a x=1.5"]),
            SchemaChange(
                refusing: "integers grow narrower", [entity("A", number)], [entity("A", value("x", Int32.self))],
                ["A.x: needs a migration stage"], seven),
            SchemaChange(
                refusing: "integers lose their sign", [entity("A", value("x", Int32.self))],
                [entity("A", value("x", UInt64.self))], ["A.x: needs a migration stage"]),
            SchemaChange(
                refusing: "integers become fractions", [entity("A", value("x", Int32.self))],
                [entity("A", value("x", Double.self))], ["A.x: needs a migration stage"]),
            SchemaChange(
                "external storage is switched on", [entity("A", value("x", Data.self))],
                [entity("A", value("x", Data.self, .externalStorage))], ["A.x: lightweight"],
                [Sample("A", "a", ["x": Data(repeating: 1, count: 100)])], gives: ["A a x=100 bytes"]),
            SchemaChange(
                "external storage is switched off", [entity("A", value("x", Data.self, .externalStorage))],
                [entity("A", value("x", Data.self))], ["A.x: lightweight"],
                [Sample("A", "a", ["x": Data(repeating: 1, count: 100)])], gives: ["A a x=100 bytes"]),
            SchemaChange(
                "an attribute becomes transient", [entity("A", number)],
                [entity("A", value("x", Int.self, .ephemeral, default: 0))], ["A.x: lightweight", "A.x: lightweight"],
                seven, gives: ["A a x=0", "A b x=0"]),
            SchemaChange(
                "an attribute is transient no more",
                [entity("A", value("x", Int.self, .ephemeral, default: 1))],
                [entity("A", value("x", Int.self, default: 1))], ["A.x: lightweight"], seven,
                gives: ["A a x=1", "A b x=1"]),
            SchemaChange(
                "a hash modifier changes", [entity("A", number)], [entity("A", value("x", Int.self, modifier: "2"))],
                ["A.x: lightweight"], seven, gives: ["A a x=7", "A b x=8"]),
            SchemaChange(
                refusing: "an attribute becomes a relationship", [entity("A", number), entity("B")],
                [entity("A", one("x", "B")), entity("B")], ["A.x: needs a migration stage"], seven),
            SchemaChange(
                "members of a structure come and go",
                [entity("A", Schema.CompositeAttribute(name: "p", valueType: [Int]?.self, properties: [number]))],
                [
                    entity(
                        "A",
                        Schema.CompositeAttribute(
                            name: "p", valueType: [Int]?.self, properties: [number, optional.renamed("y")]))
                ],
                ["A.p: lightweight"], [Sample("A", "a")], gives: ["A a p=nil"]),
        ] + ofConstraints
    }

    private static var ofConstraints: [SchemaChange] {
        let unique = value("x", Int.self, .unique)
        return [
            SchemaChange(
                "an attribute becomes unique", [entity("A", number)], [entity("A", unique)], ["A.x: lightweight"],
                seven,
                gives: ["A a x=7", "A b x=8"]),
            SchemaChange(
                "an attribute is unique no more", [entity("A", unique)], [entity("A", number)], ["A.x: lightweight"],
                seven, gives: ["A a x=7", "A b x=8"]),
            SchemaChange(
                "a group that is unique changes", [entity("A", number, unique: [["x"]])],
                [entity("A", number, unique: [["n", "x"]])], ["A: lightweight", "A.x: lightweight"], seven,
                gives: ["A a x=7", "A b x=8"]),
            SchemaChange(
                "a unique number grows wider", [entity("A", value("x", Int16.self, .unique))], [entity("A", unique)],
                ["A.x: lightweight"], [Sample("A", "a", ["x": Int16(-3)])], gives: ["A a x=-3"]),
            SchemaChange(
                refusing: "a unique number grows wider and gets a sign",
                [entity("A", value("x", UInt16.self, .unique))],
                [entity("A", unique)], ["A.x: needs a migration stage"]),
            SchemaChange(
                "a unique attribute becomes required, and none is nil", [entity("A", value("x", Int?.self, .unique))],
                [entity("A", value("x", Int.self, .unique, default: 0))], ["A.x: lightweight", "A.x: lightweight"],
                seven, gives: ["A a x=7", "A b x=8"]),
            SchemaChange(
                "an index is added", [entity("A", number)], [entity("A", number, indices: [["x"]])], ["A: lightweight"],
                seven, gives: ["A a x=7", "A b x=8"]),
            SchemaChange(
                "an index is removed", [entity("A", number, indices: [["x"]])], [entity("A", number)],
                ["A: lightweight"], seven, gives: ["A a x=7", "A b x=8"]),
        ]
    }
}

extension Schema.Attribute {
    fileprivate func renamed(_ name: String) -> Schema.Attribute {
        Schema.Attribute(name: name, options: options, valueType: valueType, defaultValue: defaultValue)
    }
}
