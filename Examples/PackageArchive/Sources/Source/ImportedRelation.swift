/// One alternative of one relation that a package declares, such as the second half of `Depends: mta | postfix (>= 3)`.
package struct ImportedRelation: Sendable, Equatable {
    /// The place of the declaring package in `PackageSet.packages`.
    package var owner: Int32
    package var kind: Kind
    /// Which comma-separated group of the field this alternative belongs to, counted from 0.
    package var group: Int32
    /// The place among the alternatives of its group, counted from 0.
    package var position: Int32
    /// The name asked for; a virtual or unknown package is kept by this name alone.
    package var targetName: String
    /// The architecture after the colon, such as `any`, or empty.
    package var targetArchitecture: String
    package var comparison: Comparison
    /// The version that `comparison` compares with, or empty.
    package var targetVersion: String
    /// The place of the target in `PackageSet.packages`, or -1 where no package has that name.
    package var target: Int32

    /// Whether no package of the set has the target's name: a virtual package, or one that is not known here.
    package var isDangling: Bool { target < 0 }

    /// The kind of a relation; raw values are stable.
    package enum Kind: UInt8, Sendable, CaseIterable {
        case depends = 0
        case preDepends = 1
        case recommends = 2
        case suggests = 3
        case breaks = 4
        case conflicts = 5
        case replaces = 6
        case provides = 7
        case enhances = 8
        case builtUsing = 9
        case staticBuiltUsing = 10

        /// The name of the field, as Debian spells it.
        package var fieldName: StaticString {
            switch self {
            case .depends: "Depends"
            case .preDepends: "Pre-Depends"
            case .recommends: "Recommends"
            case .suggests: "Suggests"
            case .breaks: "Breaks"
            case .conflicts: "Conflicts"
            case .replaces: "Replaces"
            case .provides: "Provides"
            case .enhances: "Enhances"
            case .builtUsing: "Built-Using"
            case .staticBuiltUsing: "Static-Built-Using"
            }
        }
    }

    /// How the target's version must compare; raw values are stable.
    package enum Comparison: UInt8, Sendable, CaseIterable {
        case any = 0
        case earlier = 1
        case earlierOrEqual = 2
        case equal = 3
        case laterOrEqual = 4
        case later = 5

        /// The operator as Debian writes it, empty for `any`.
        package var symbol: String {
            switch self {
            case .any: ""
            case .earlier: "<<"
            case .earlierOrEqual: "<="
            case .equal: "="
            case .laterOrEqual: ">="
            case .later: ">>"
            }
        }
    }
}
