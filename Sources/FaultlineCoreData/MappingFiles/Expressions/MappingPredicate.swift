/// A condition of a mapping model, in the parts that Core Data's predicates have.
public indirect enum MappingPredicate: Hashable, Sendable {
    /// `TRUEPREDICATE` or `FALSEPREDICATE`.
    case constant(Bool)
    case not(MappingPredicate)
    /// All of them, joined by `AND`.
    case all([MappingPredicate])
    /// At least one of them, joined by `OR`.
    case any([MappingPredicate])
    case comparison(Comparison)
    /// Text that this release cannot read.
    case unreadable(String)

    /// Two expressions that are compared.
    public struct Comparison: Hashable, Sendable {
        /// The signs and words that compare.
        public enum Sign: String, Sendable, CaseIterable {
            case equal = "=="
            case notEqual = "!="
            case less = "<"
            case lessOrEqual = "<="
            case greater = ">"
            case greaterOrEqual = ">="
            case between = "BETWEEN"
            case isIn = "IN"
            case contains = "CONTAINS"
            case beginsWith = "BEGINSWITH"
            case endsWith = "ENDSWITH"
            case like = "LIKE"
            case matches = "MATCHES"
        }

        /// The number of members of a collection for which the comparison must be true.
        public enum Quantifier: String, Sendable, CaseIterable {
            case any = "ANY"
            case all = "ALL"
            case notAny = "NONE"
        }

        /// The left side.
        public var left: MappingExpression
        /// The sign between the sides.
        public var sign: Sign
        /// The right side.
        public var right: MappingExpression
        /// Whether upper and lower case are the same: `[c]`.
        public var ignoresCase = false
        /// Whether letters are the same with accents and without: `[d]`.
        public var ignoresDiacritics = false
        /// The members of the left side that count; nil if it is no collection.
        public var quantifier: Quantifier?

        /// Compares two expressions.
        public init(
            left: MappingExpression, sign: Sign, right: MappingExpression, ignoresCase: Bool = false,
            ignoresDiacritics: Bool = false, quantifier: Quantifier? = nil
        ) {
            self.left = left
            self.sign = sign
            self.right = right
            self.ignoresCase = ignoresCase
            self.ignoresDiacritics = ignoresDiacritics
            self.quantifier = quantifier
        }
    }
}

extension MappingPredicate: CustomStringConvertible {
    /// The condition in the format of Core Data.
    ///
    /// - Complexity: O(n) for n parts.
    public var description: String {
        switch self {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .not(let part): "NOT \(part.enclosed)"
        case .all(let parts): parts.map(\.enclosed).joined(separator: " AND ")
        case .any(let parts): parts.map(\.enclosed).joined(separator: " OR ")
        case .comparison(let comparison): comparison.description
        case .unreadable(let text): text
        }
    }

    private var enclosed: String {
        switch self {
        case .all, .any, .not: "(\(self))"
        case .constant, .comparison, .unreadable: description
        }
    }
}

extension MappingPredicate.Comparison: CustomStringConvertible {
    /// The comparison in the format of Core Data.
    public var description: String {
        let letters = (ignoresCase ? "c" : "") + (ignoresDiacritics ? "d" : "")
        let options = letters.isEmpty ? "" : "[\(letters)]"
        return "\(quantifier.map { $0.rawValue + " " } ?? "")\(left) \(sign.rawValue)\(options) \(right)"
    }
}
