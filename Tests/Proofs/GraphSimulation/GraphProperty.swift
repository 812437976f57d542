internal import Faultline

/// A relationship of the graph's classes: its description for the plain model, and closures that read and change it.
struct GraphProperty {
    enum Rule { case nullify, cascade, deny, noAction }

    /// The class that declares it, and the destination's class: indexes in `GraphKind.all`.
    let owner: Int
    let destination: Int
    /// As "Firm.staff".
    let name: String
    let inverseName: String?
    let rule: Rule
    let isToOne: Bool
    let isRequired: Bool
    /// The allowed numbers of members; an optional collection may also be empty.
    let bounds: ClosedRange<Int>
    /// As "Asset.driver": the name of the class whose table has it.
    var storedName: String { "\(GraphKind.all[GraphKind.root(of: owner)]).\(name.drop { $0 != "." }.dropFirst())" }
    /// Reads the objects that it refers to: at most one if it is to-one.
    let read: (any GraphObject) -> [any GraphObject]
    let write: (any GraphObject, [any GraphObject]) -> Void
    /// Access to members one at a time; nil for a to-one relationship.
    let handle: Handle?

    /// A `relationship(\.members)`.
    struct Handle {
        let insert: (any GraphObject, any GraphObject) -> Bool
        let remove: (any GraphObject, any GraphObject) -> Bool
        let contains: (any GraphObject, any GraphObject) -> Bool
        let count: (any GraphObject) -> Int
        let isEmpty: (any GraphObject) -> Bool
        let all: (any GraphObject) -> [any GraphObject]
    }

    /// Calls `body` with an object of the class that declares a property.
    private static func of<T, R>(_ object: any GraphObject, _ body: (T) -> R) -> R {
        guard let object = object as? T else { preconditionFailure("\(object) is no \(T.self)") }
        return body(object)
    }

    static func toOne<O: GraphObject, T: GraphObject>(
        _ name: String, _ path: ReferenceWritableKeyPath<O, T?>, inverse: String? = nil, _ rule: Rule = .nullify
    ) -> Self {
        GraphProperty(
            owner: GraphKind.place(of: O.self), destination: GraphKind.place(of: T.self), name: "\(O.self).\(name)",
            inverseName: inverse.map { "\(T.self).\($0)" }, rule: rule, isToOne: true, isRequired: false,
            bounds: 0...Int.max,
            read: { of($0) { (owner: O) in owner[keyPath: path].map { [$0] } ?? [] } },
            write: { owner, targets in
                of(owner) { (owner: O) in owner[keyPath: path] = targets.first.map { of($0) { $0 } } }
            }, handle: nil)
    }

    static func required<O: GraphObject, T: GraphObject>(
        _ name: String, _ path: ReferenceWritableKeyPath<O, T>, inverse: String? = nil
    ) -> Self {
        GraphProperty(
            owner: GraphKind.place(of: O.self), destination: GraphKind.place(of: T.self), name: "\(O.self).\(name)",
            inverseName: inverse.map { "\(T.self).\($0)" }, rule: .nullify, isToOne: true, isRequired: true,
            bounds: 0...Int.max,
            // A deleted one is read as an object without a context.
            read: { of($0) { (owner: O) in [owner[keyPath: path]].filter { $0.modelContext != nil } } },
            write: { owner, targets in
                guard let target = targets.first else { return }
                of(owner) { (owner: O) in owner[keyPath: path] = of(target) { $0 } }
            }, handle: nil)
    }

    static func toMany<O: GraphObject, T: GraphObject>(
        _ name: String, _ path: ReferenceWritableKeyPath<O, [T]>, inverse: String? = nil, _ rule: Rule = .nullify,
        bounds: ClosedRange<Int> = 0...Int.max
    ) -> Self {
        GraphProperty(
            owner: GraphKind.place(of: O.self), destination: GraphKind.place(of: T.self), name: "\(O.self).\(name)",
            inverseName: inverse.map { "\(T.self).\($0)" }, rule: rule, isToOne: false, isRequired: false,
            bounds: bounds,
            read: { of($0) { (owner: O) in owner[keyPath: path] } },
            write: { owner, targets in
                of(owner) { (owner: O) in owner[keyPath: path] = targets.map { of($0) { $0 } } }
            },
            handle: handle { (owner: O) -> ToManyRelationship<T> in owner.relationship(path) })
    }

    static func toMany<O: GraphObject, T: GraphObject>(
        _ name: String, _ path: ReferenceWritableKeyPath<O, [T]?>, bounds: ClosedRange<Int>
    ) -> Self {
        GraphProperty(
            owner: GraphKind.place(of: O.self), destination: GraphKind.place(of: T.self), name: "\(O.self).\(name)",
            inverseName: nil, rule: .nullify, isToOne: false, isRequired: false, bounds: bounds,
            read: { of($0) { (owner: O) in owner[keyPath: path] ?? [] } },
            write: { owner, targets in
                of(owner) { (owner: O) in owner[keyPath: path] = targets.isEmpty ? nil : targets.map { of($0) { $0 } } }
            },
            handle: handle { (owner: O) -> ToManyRelationship<T> in owner.relationship(path) })
    }

    private static func handle<O: GraphObject, T: GraphObject>(
        _ relationship: @escaping (O) -> ToManyRelationship<T>
    ) -> Handle {
        Handle(
            insert: { owner, member in of(owner) { relationship($0).insert(of(member) { $0 }) } },
            remove: { owner, member in of(owner) { relationship($0).remove(of(member) { $0 }) } },
            contains: { owner, member in of(owner) { relationship($0).contains(of(member) { $0 }) } },
            count: { of($0) { relationship($0).count } },
            isEmpty: { of($0) { relationship($0).isEmpty } },
            all: { of($0) { relationship($0).map { $0 } } })
    }
}

/// The relationships of all classes, identified by their indexes.
struct GraphShape {
    let properties: [GraphProperty]
    /// The index of each relationship's inverse.
    let inverses: [Int?]
    /// The indexes of each class's relationships, with inherited ones.
    let ofKind: [[Int]]

    init() {
        properties = [
            .toMany("staff", \Firm.staff, inverse: "firm"),
            .toMany("branches", \Firm.branches, inverse: "firm", .cascade),
            .toMany("leases", \Firm.leases, inverse: "firm", .deny),
            .toMany("visitors", \Firm.visitors, inverse: "visiting", .noAction),
            .toOne("head", \Firm.head, inverse: "heads"),
            .toOne("mascot", \Firm.mascot),
            .toMany("badges", \Firm.badges, bounds: 0...4),
            .toMany("houses", \Firm.houses, inverse: "firm", .cascade),
            .toOne("firm", \Person.firm, inverse: "staff"),
            .toOne("visiting", \Person.visiting, inverse: "visitors"),
            .toOne("heads", \Person.heads, inverse: "head"),
            .toMany("tags", \Person.tags, inverse: "people"),
            .toOne("passport", \Person.passport, inverse: "owner", .cascade),
            .toMany("ownTags", \Person.ownTags, inverse: "owner"),
            .toMany("projects", \Person.projects, inverse: "people", .cascade),
            .toOne("led", \Person.led, inverse: "chief", .deny),
            .toMany("assets", \Person.assets, inverse: "keeper"),
            .toOne("drives", \Person.drives, inverse: "driver", .noAction),
            .required("firm", \Branch.firm, inverse: "branches"),
            .toOne("firm", \Lease.firm, inverse: "leases"),
            .required("seal", \Lease.seal),
            .required("owner", \Tag.owner, inverse: "ownTags"),
            .toMany("people", \Tag.people, inverse: "tags", bounds: 0...5),
            .required("owner", \Passport.owner, inverse: "passport"),
            .toMany("people", \Project.people, inverse: "projects", .deny, bounds: 1...Int.max),
            .toOne("chief", \Project.chief, inverse: "led", .noAction),
            .toOne("parent", \Node.parent, inverse: "children"),
            .toMany("children", \Node.children, inverse: "parent", .cascade, bounds: 0...6),
            .toMany("ahead", \Node.ahead, inverse: "behind", .noAction),
            .toMany("behind", \Node.behind, inverse: "ahead"),
            .toMany("badges", \Node.badges, bounds: 0...3),
            .toOne("keeper", \Asset.keeper, inverse: "assets"),
            .toOne("lifter", \Asset.lifter, inverse: "loads"),
            .toOne("driver", \Machine.driver, inverse: "drives"),
            .toOne("shed", \Machine.shed, inverse: "machines"),
            .toMany("loads", \Crane.loads, inverse: "lifter", .cascade),
            .required("firm", \House.firm, inverse: "houses"),
            .toMany("machines", \House.machines, inverse: "shed", .deny),
            .toMany("badges", \House.badges, bounds: 0...2),
        ]
        let places = Dictionary(uniqueKeysWithValues: properties.enumerated().map { ($1.name, $0) })
        inverses = properties.map { property in property.inverseName.map { places[$0] ?? -1 } }
        let all = properties
        ofKind = GraphKind.all.indices.map { kind in all.indices.filter { GraphKind.covers[all[$0].owner][kind] } }
    }
}
