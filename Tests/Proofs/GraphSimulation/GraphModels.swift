internal import Faultline
internal import Foundation

/// The common properties of the graph's classes: a key that never changes, and values.
protocol GraphObject: PersistentModel {
    var key: Int { get }
    var number: Int { get set }
    var name: String? { get set }
    var photo: Data? { get set }
}

// Every kind of relationship and of delete rule, in few classes, so that one deletion involves several rules.

@Model final class Firm {
    var key: Int
    var number = 0
    @Attribute(.unique) var name: String?
    @Attribute(.externalStorage) var photo: Data?
    @Relationship(inverse: \Person.firm) var staff: [Person] = []
    @Relationship(deleteRule: .cascade, inverse: \Branch.firm) var branches: [Branch] = []
    @Relationship(deleteRule: .deny, inverse: \Lease.firm) var leases: [Lease] = []
    @Relationship(deleteRule: .noAction, inverse: \Person.visiting) var visitors: [Person] = []
    @Relationship(inverse: \Person.heads) var head: Person?
    // A relationship without an inverse.
    var mascot: Badge?
    @Relationship(maximumModelCount: 4) var badges: [Badge] = []
    // Declared by a subclass.
    @Relationship(deleteRule: .cascade, inverse: \House.firm) var houses: [House] = []
    init(_ key: Int) { self.key = key }
}

@Model final class Person {
    #Index<Person>([\.number], [\.firm, \.number])
    var key: Int
    var number = 0
    @Attribute(.unique, .spotlight) var name: String?
    @Attribute(.externalStorage) var photo: Data?
    var firm: Firm?
    var visiting: Firm?
    var heads: Firm?
    @Relationship(inverse: \Tag.people) var tags: [Tag] = []
    @Relationship(deleteRule: .cascade, inverse: \Passport.owner) var passport: Passport?
    @Relationship(inverse: \Tag.owner) var ownTags: [Tag] = []
    @Relationship(deleteRule: .cascade, inverse: \Project.people) var projects: [Project] = []
    @Relationship(deleteRule: .deny, inverse: \Project.chief) var led: Project?
    // Objects of a class and its subclasses.
    @Relationship(inverse: \Asset.keeper) var assets: [Asset] = []
    @Relationship(deleteRule: .noAction, inverse: \Machine.driver) var drives: Machine?
    init(_ key: Int) { self.key = key }
}

@Model final class Branch {
    var key: Int
    var number = 0
    @Attribute(.unique) var name: String?
    @Attribute(.externalStorage) var photo: Data?
    var firm: Firm
    init(_ key: Int, _ firm: Firm) {
        self.key = key
        self.firm = firm
    }
}

@Model final class Lease {
    var key: Int
    var number = 0
    @Attribute(.unique) var name: String?
    @Attribute(.externalStorage) var photo: Data?
    var firm: Firm?
    var seal: Badge
    init(_ key: Int, _ seal: Badge) {
        self.key = key
        self.seal = seal
    }
}

@Model final class Tag {
    var key: Int
    var number = 0
    @Attribute(.unique) var name: String?
    @Attribute(.externalStorage) var photo: Data?
    // Cleared by a rule, although it is required: a deletion that would clear it is refused.
    var owner: Person
    @Relationship(maximumModelCount: 5) var people: [Person] = []
    init(_ key: Int, _ owner: Person) {
        self.key = key
        self.owner = owner
    }
}

@Model final class Badge {
    var key: Int
    var number = 0
    @Attribute(.unique) var name: String?
    @Attribute(.externalStorage) var photo: Data?
    init(_ key: Int) { self.key = key }
}

@Model final class Passport {
    var key: Int
    var number = 0
    @Attribute(.unique) var name: String?
    @Attribute(.externalStorage) var photo: Data?
    var owner: Person
    init(_ key: Int, _ owner: Person) {
        self.key = key
        self.owner = owner
    }
}

@Model final class Project {
    var key: Int
    var number = 0
    @Attribute(.unique) var name: String?
    @Attribute(.externalStorage) var photo: Data?
    @Relationship(deleteRule: .deny, minimumModelCount: 1) var people: [Person] = []
    @Relationship(deleteRule: .noAction) var chief: Person?
    init(_ key: Int) { self.key = key }
}

/// Related to others of its kind: a tree, and a many-to-many graph.
@Model final class Node {
    // Most frequently, names are unset, and objects moved and detached.
    #Index<Node>([\.name, \.number], [\.parent])
    #TextIndex<Node>([\.name])
    var key: Int
    var number = 0
    @Attribute(.unique) var name: String?
    @Attribute(.externalStorage) var photo: Data?
    @Relationship(inverse: \Node.children) var parent: Node?
    @Relationship(deleteRule: .cascade, maximumModelCount: 6) var children: [Node] = []
    @Relationship(deleteRule: .noAction, inverse: \Node.behind) var ahead: [Node] = []
    var behind: [Node] = []
    @Relationship(minimumModelCount: 1, maximumModelCount: 3) var badges: [Badge]? = nil
    init(_ key: Int) { self.key = key }
}

extension Firm: GraphObject {}
extension Person: GraphObject {}
extension Branch: GraphObject {}
extension Lease: GraphObject {}
extension Tag: GraphObject {}
extension Badge: GraphObject {}
extension Passport: GraphObject {}
extension Project: GraphObject {}
extension Node: GraphObject {}
