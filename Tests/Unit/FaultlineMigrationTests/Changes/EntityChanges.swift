import Faultline

extension SchemaChange {
    static var ofEntities: [SchemaChange] {
        let x = value("x", Int.self)
        let objects = [Sample("A", "a", ["x": 7]), Sample("A", "b", ["x": 8])]
        return [
            SchemaChange(
                "an entity is added", [entity("A", x)], [entity("A", x), entity("B")], ["B: lightweight"], objects,
                gives: ["A a x=7", "A b x=8"]),
            SchemaChange(
                "an entity is removed", [entity("A", x), entity("B")], [entity("B")], ["A: lightweight"],
                objects + [Sample("B", "p")], gives: ["B p"]),
            SchemaChange(
                "an entity is renamed", [entity("A", x)], [entity("C", x, was: "A")], ["C: lightweight"], objects,
                gives: ["C a x=7", "C b x=8"]),
            SchemaChange(
                "two entities change names", [entity("A", x), entity("B")],
                [entity("B", x, was: "A"), entity("A", was: "B")], ["B: lightweight", "A: lightweight"],
                objects + [Sample("B", "p")], gives: ["B a x=7", "B b x=8", "A p"]),
            SchemaChange(
                "several changes at once", [entity("A", x, value("y", String.self))],
                [
                    entity("C", value("z", Int?.self, was: "x"), value("w", Int.self, default: 3), was: "A"),
                    entity("D"),
                ],
                [
                    "C: lightweight", "C.z: lightweight", "C.z: lightweight", "C.w: lightweight", "C.y: lightweight",
                    "D: lightweight",
                ],
                [Sample("A", "a", ["x": 7, "y": "gone"])], gives: ["C a z=7 w=3"]),
            SchemaChange(
                refusing: "an attribute moves to another entity", [entity("A", x), entity("B")],
                [entity("A"), entity("B", x)], ["A.x: lightweight", "B.x: needs a default value"], objects),
            SchemaChange(
                "an entity gets a parent", [entity("A", x)],
                [entity("P", subentities: [entity("A", x, isRoot: false)])],
                ["P: lightweight", "A: lightweight"], objects, gives: ["A a x=7", "A b x=8"]),
            SchemaChange(
                "an entity gets a child", [entity("A", x)],
                [entity("A", x, subentities: [entity("S", isRoot: false)])], ["S: lightweight"], objects,
                gives: ["A a x=7", "A b x=8"]),
            SchemaChange(
                "a property moves up the hierarchy", [entity("P", subentities: [entity("A", x, isRoot: false)])],
                [entity("P", value("x", Int.self, default: 0), subentities: [entity("A", isRoot: false)])],
                ["P.x: lightweight", "A.x: lightweight"], objects, gives: ["A a x=7", "A b x=8"]),
            SchemaChange(
                "a property moves down the hierarchy",
                [entity("P", x, subentities: [entity("A", isRoot: false)])],
                [entity("P", subentities: [entity("A", x, isRoot: false)])], ["P.x: lightweight"],
                [Sample("P", "p", ["x": 1])] + objects, gives: ["P p", "A a x=7", "A b x=8"]),
            SchemaChange(
                "an entity leaves a hierarchy", [entity("P", subentities: [entity("A", x, isRoot: false)])],
                [entity("P"), entity("A", x)], ["A: lightweight"], objects, gives: ["A a x=7", "A b x=8"]),
            SchemaChange(
                refusing: "hierarchies merge", [entity("A", x), entity("B")],
                [entity("B", subentities: [entity("A", x, isRoot: false)])],
                ["A: lightweight", "B: needs a migration stage"], objects),
        ]
    }
}
