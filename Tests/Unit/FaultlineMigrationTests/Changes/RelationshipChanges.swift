import Faultline

extension SchemaChange {
    /// Two objects that refer to the same one, a third that refers to another, and a fourth that refers to none.
    private static func references(_ name: String = "r") -> [Sample] {
        [
            Sample("B", "p"), Sample("B", "q"), Sample("A", "a", to: [name: ["p"]]),
            Sample("A", "b", to: [name: ["q"]]),
            Sample("A", "c", to: [name: ["p"]]), Sample("A", "d"),
        ]
    }

    private static var collections: [Sample] {
        [
            Sample("B", "p"), Sample("B", "q"), Sample("A", "a", to: ["s": ["q", "p"]]),
            Sample("A", "b", to: ["s": ["p"]]),
        ]
    }

    static var ofRelationships: [SchemaChange] {
        let b = entity("B")
        return [
            SchemaChange(
                "an optional to-one is added", [entity("A"), b], [entity("A", one("r", "B")), b], ["A.r: lightweight"],
                [Sample("A", "a")], gives: ["A a r=nil"]),
            SchemaChange(
                "a to-many is added", [entity("A"), b], [entity("A", many("r", "B")), b], ["A.r: lightweight"],
                [Sample("A", "a")], gives: ["A a r=[]"]),
            SchemaChange(
                refusing: "a required to-one is added", [entity("A"), b],
                [entity("A", one("r", "B", isOptional: false)), b], ["A.r: needs a migration stage"]),
            SchemaChange(
                "a relationship is removed", [entity("A", one("r", "B")), b], [entity("A"), b], ["A.r: lightweight"],
                references(), gives: ["A a", "A b", "A c", "A d", "B p", "B q"]),
            SchemaChange(
                "a to-one is renamed", [entity("A", one("r", "B")), b], [entity("A", one("z", "B", was: "r")), b],
                ["A.z: lightweight"], references(), gives: ["A a z=p", "A b z=q", "A c z=p", "A d z=nil", "B p", "B q"]),
            SchemaChange(
                "a to-many is renamed", [entity("A", many("s", "B")), b], [entity("A", many("z", "B", was: "s")), b],
                ["A.z: lightweight"], collections, gives: ["A a z=[q,p]", "A b z=[p]", "B p", "B q"]),
            SchemaChange(
                "both sides are renamed",
                [entity("A", one("r", "B", inverse: "as")), entity("B", many("as", "A", inverse: "r"))],
                [
                    entity("A", one("z", "B", inverse: "all", was: "r")),
                    entity("B", many("all", "A", inverse: "z", was: "as")),
                ], ["A.z: lightweight", "B.all: lightweight"], references(),
                gives: ["A a z=p", "A b z=q", "A c z=p", "A d z=nil", "B p all=[a,c]", "B q all=[b]"]),
            SchemaChange(
                refusing: "a relationship leads elsewhere", [entity("A", one("r", "B")), b, entity("C")],
                [entity("A", one("r", "C")), b, entity("C")], ["A.r: needs a migration stage"]),
            SchemaChange(
                "the destination is renamed", [entity("A", one("r", "B")), b],
                [entity("A", one("r", "D")), entity("D", was: "B")], ["D: lightweight"], references(),
                gives: ["A a r=p", "A b r=q", "A c r=p", "A d r=nil", "D p", "D q"]),
            SchemaChange(
                "a required to-one becomes optional", [entity("A", one("r", "B", isOptional: false)), b],
                [entity("A", one("r", "B")), b], ["A.r: lightweight"],
                [Sample("B", "p"), Sample("A", "a", to: ["r": ["p"]])],
                gives: ["A a r=p", "B p"]),
            SchemaChange(
                "an optional to-one becomes required, and all refer to one", [entity("A", one("r", "B")), b],
                [entity("A", one("r", "B", isOptional: false)), b], ["A.r: lightweight"],
                [Sample("B", "p"), Sample("A", "a", to: ["r": ["p"]])], gives: ["A a r=p", "B p"]),
            SchemaChange(
                "a delete rule changes", [entity("A", one("r", "B")), b],
                [entity("A", one("r", "B", rule: .cascade)), b], ["A.r: lightweight"], [Sample("A", "a")],
                gives: ["A a r=nil"]),
            SchemaChange(
                "bounds of a to-many change", [entity("A", many("s", "B")), b],
                [entity("A", many("s", "B", least: 1, most: 2)), b], ["A.s: lightweight"], collections,
                gives: ["A a s=[q,p]", "A b s=[p]", "B p", "B q"]),
            SchemaChange(
                refusing: "a relationship becomes an attribute", [entity("A", one("r", "B")), b],
                [entity("A", value("r", Int.self, default: 0)), b], ["A.r: needs a migration stage"]),
        ] + ofCardinality + ofInverses
    }

    private static var ofCardinality: [SchemaChange] {
        let b = entity("B")
        return [
            SchemaChange(
                "a to-one becomes a to-many", [entity("A", one("r", "B")), b], [entity("A", many("r", "B")), b],
                ["A.r: lightweight"], references(),
                gives: ["A a r=[p]", "A b r=[q]", "A c r=[p]", "A d r=[]", "B p", "B q"]),
            SchemaChange(
                "many to one becomes many to many",
                [entity("A", one("r", "B", inverse: "as")), entity("B", many("as", "A", inverse: "r"))],
                [entity("A", many("r", "B", inverse: "as")), entity("B", many("as", "A", inverse: "r"))],
                ["A.r: lightweight"], references(),
                gives: ["A a r=[p]", "A b r=[q]", "A c r=[p]", "A d r=[]", "B p as=[a,c]", "B q as=[b]"]),
            SchemaChange(
                "one to one becomes one to many",
                [entity("A", one("r", "B", inverse: "a")), entity("B", one("a", "A", inverse: "r"))],
                [entity("A", many("r", "B", inverse: "a")), entity("B", one("a", "A", inverse: "r"))],
                ["A.r: lightweight"], [Sample("B", "p"), Sample("B", "q"), Sample("A", "a", to: ["r": ["p"]])],
                gives: ["A a r=[p]", "B p a=a", "B q a=nil"]),
            SchemaChange(
                refusing: "a to-many becomes a to-one", [entity("A", many("s", "B")), b],
                [entity("A", one("s", "B")), b], ["A.s: needs a migration stage"], collections),
        ]
    }

    private static var ofInverses: [SchemaChange] {
        let b = entity("B")
        return [
            SchemaChange(
                "a to-one gets a to-many inverse", [entity("A", one("r", "B")), b],
                [entity("A", one("r", "B", inverse: "as")), entity("B", many("as", "A", inverse: "r"))],
                ["A.r: lightweight", "B.as: lightweight"], references(),
                gives: ["A a r=p", "A b r=q", "A c r=p", "A d r=nil", "B p as=[a,c]", "B q as=[b]"]),
            SchemaChange(
                "a to-many gets a to-many inverse", [entity("A", many("s", "B")), b],
                [entity("A", many("s", "B", inverse: "as")), entity("B", many("as", "A", inverse: "s"))],
                ["A.s: lightweight", "B.as: lightweight"], collections,
                gives: ["A a s=[q,p]", "A b s=[p]", "B p as=[a,b]", "B q as=[a]"]),
            SchemaChange(
                refusing: "a to-one gets a to-one inverse", [entity("A", one("r", "B")), b],
                [entity("A", one("r", "B", inverse: "a")), entity("B", one("a", "A", inverse: "r"))],
                ["A.r: needs a migration stage", "B.a: lightweight"], references()),
            SchemaChange(
                refusing: "a to-many gets a to-one inverse", [entity("A", many("s", "B")), b],
                [entity("A", many("s", "B", inverse: "a")), entity("B", one("a", "A", inverse: "s"))],
                ["A.s: needs a migration stage", "B.a: lightweight"], collections),
            SchemaChange(
                refusing: "two relationships become inverses",
                [entity("A", one("r", "B")), entity("B", many("as", "A"))],
                [entity("A", one("r", "B", inverse: "as")), entity("B", many("as", "A", inverse: "r"))],
                ["A.r: lightweight", "B.as: needs a migration stage"], references()),
            SchemaChange(
                "the to-many of two inverses goes",
                [entity("A", one("r", "B", inverse: "as")), entity("B", many("as", "A", inverse: "r"))],
                [entity("A", one("r", "B")), b], ["A.r: lightweight", "B.as: lightweight"], references(),
                gives: ["A a r=p", "A b r=q", "A c r=p", "A d r=nil", "B p", "B q"]),
            SchemaChange(
                "the to-one of two inverses goes",
                [entity("A", one("r", "B", inverse: "as")), entity("B", many("as", "A", inverse: "r"))],
                [entity("A"), entity("B", many("as", "A"))], ["A.r: lightweight", "B.as: lightweight"], references(),
                gives: ["A a", "A b", "A c", "A d", "B p as=[a,c]", "B q as=[b]"]),
            SchemaChange(
                "a to-one and its to-many part",
                [entity("A", one("r", "B", inverse: "as")), entity("B", many("as", "A", inverse: "r"))],
                [entity("A", one("r", "B")), entity("B", many("as", "A"))], ["A.r: lightweight", "B.as: lightweight"],
                references(),
                gives: ["A a r=p", "A b r=q", "A c r=p", "A d r=nil", "B p as=[a,c]", "B q as=[b]"]),
            SchemaChange(
                "one side of many to many goes",
                [entity("A", many("s", "B", inverse: "as")), entity("B", many("as", "A", inverse: "s"))],
                [entity("A"), entity("B", many("as", "A"))], ["A.s: lightweight", "B.as: lightweight"], collections,
                gives: ["A a", "A b", "B p as=[a,b]", "B q as=[a]"]),
            SchemaChange(
                refusing: "both sides of many to many part",
                [entity("A", many("s", "B", inverse: "as")), entity("B", many("as", "A", inverse: "s"))],
                [entity("A", many("s", "B")), entity("B", many("as", "A"))],
                ["A.s: needs a migration stage", "B.as: needs a migration stage"], collections),
        ]
    }
}
