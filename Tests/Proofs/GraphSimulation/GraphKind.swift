internal import Faultline

/// The classes of the graph.
enum GraphKind {
    /// A class stands before those that inherit from it.
    static let all: [any GraphObject.Type] = [
        Firm.self, Person.self, Branch.self, Lease.self, Tag.self, Badge.self, Passport.self, Project.self, Node.self,
        Asset.self, Machine.self, Crane.self, House.self,
    ]

    static let asset = place(of: Asset.self)
    static let machine = place(of: Machine.self)

    /// For each class whether the objects of another one are of it too.
    static let covers: [[Bool]] = all.map { wide in
        func isOf<T: GraphObject>(_ wide: T.Type, _ narrow: any GraphObject.Type) -> Bool { narrow is T.Type }
        return all.map { isOf(wide, $0) }
    }

    /// The values that objects of a class begin with, of those that subclasses declare.
    static let own: [[Int]] = all.map { type in
        switch type {
        case is Crane.Type: [1, 2]
        case is Machine.Type: [1]
        case is House.Type: [3]
        default: []
        }
    }

    static func place(of type: any GraphObject.Type) -> Int {
        all.firstIndex { ObjectIdentifier($0) == ObjectIdentifier(type) } ?? -1
    }

    /// The class whose table has the objects of a class.
    static func root(of kind: Int) -> Int { covers.firstIndex { $0[kind] } ?? kind }
}
