package import FaultlineLog

/// A stored object that lacks what the schema asks of its relationships.
package struct BrokenRule: Sendable, Equatable, CustomStringConvertible {
    /// What it lacks.
    package enum Kind: Sendable, Equatable {
        /// A required object.
        case missing
        /// The required object that it refers to.
        case dangling
        /// The right number of members: it has so many.
        case count(Int)
    }

    package let entityName: String
    package let number: RecordID
    package let propertyName: String
    package let kind: Kind

    /// The property, and what is wrong with it.
    package var description: String {
        let what =
            switch kind {
            case .missing: "a required object is missing"
            case .dangling: "a required object is missing, which it refers to"
            case .count(let count): "it has \(count) objects"
            }
        return "\(entityName) \(number).\(propertyName): \(what)"
    }
}
