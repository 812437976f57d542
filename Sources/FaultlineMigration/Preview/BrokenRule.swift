internal import FaultlineLog

/// A stored object whose relationships break a rule of the schema.
struct BrokenRule: Sendable, Equatable, CustomStringConvertible {
    /// The rule it breaks.
    enum Kind: Sendable, Equatable {
        /// A required object is nil.
        case missing
        /// A required object was set, and is missing.
        case dangling
        /// The number of members is out of bounds: it has this many.
        case count(Int)
    }

    let entityName: String
    let number: RecordID
    let propertyName: String
    let kind: Kind

    /// The property, and its fault.
    var description: String {
        let what =
            switch kind {
            case .missing: "a required object is missing"
            case .dangling: "a required object is missing, which it refers to"
            case .count(let count): "it has \(count) objects"
            }
        return "\(entityName) \(number).\(propertyName): \(what)"
    }
}
