internal import FaultlineStore

/// Selects objects of an entity by the names of properties: a value that is made at run time.
///
///     let filter = Filter.key("age") >= 18 && Filter.key("department.name") == "Sales"
///
/// It has the semantics of Swift's operators: nil equals only nil and is neither less nor greater than any value, text
/// is compared by canonical equivalence, numbers by their exact values. Names and types are checked when it is used in
/// a fetch, against the fetched entity.
public struct Filter: Sendable {
    indirect enum Condition: Sendable {
        case compare(key: String, RowComparison, FilterValue)
        case isIn(key: String, [FilterValue])
        case contains(key: String, String)
        case beginsWith(key: String, String)
        case text(key: String, TextTest)
        case members(key: String, Quantifier, Condition)
        case identifiers([PersistentIdentifier])
        /// Code, with the text that it follows from, if it has one.
        case closure(@Sendable (ManagedObject) throws -> Bool, text: String? = nil)
        case all([Condition])
        case any([Condition])
        case not(Condition)
    }

    /// The number of members of a to-many relationship that must satisfy a filter.
    enum Quantifier: Sendable { case any, all }

    let condition: Condition

    /// Distinguishes the filter from others, in every process; a closure counts only by its presence, or by its text.
    package var mark: String { condition.mark }

    // MARK: Parts

    /// A property by its name, or one of an object that to-one relationships lead to, as in `department.name`.
    public struct Key: Sendable {
        let path: String
    }

    /// A property to compare, by its name or by a path of names.
    public static func key(_ path: String) -> Key { Key(path: path) }

    /// The objects with some identifiers: the only filter that reads no other object.
    public static func objectID(in identifiers: [PersistentIdentifier]) -> Filter {
        Filter(condition: .identifiers(identifiers))
    }

    /// The objects for which at least one member of a to-many relationship satisfies a filter.
    public static func any(_ relationship: String, where filter: Filter) -> Filter {
        Filter(condition: .members(key: relationship, .any, filter.condition))
    }

    /// The objects for which all members of a to-many relationship satisfy a filter; true if there are none.
    public static func all(_ relationship: String, where filter: Filter) -> Filter {
        Filter(condition: .members(key: relationship, .all, filter.condition))
    }

    /// The objects for which a closure returns true: each object is made and passed to it.
    public static func matching(_ isWanted: @escaping @Sendable (ManagedObject) throws -> Bool) -> Filter {
        Filter(condition: .closure(isWanted))
    }

    /// The objects for which the condition of a file is true: a stopped stage is only resumed by the same text.
    package static func matching(
        as text: String, _ isWanted: @escaping @Sendable (ManagedObject) throws -> Bool
    ) -> Filter {
        Filter(condition: .closure(isWanted, text: text))
    }

    // MARK: Joining

    /// True for objects that satisfy both filters.
    public static func && (left: Filter, right: Filter) -> Filter {
        Filter(condition: .all([left.condition, right.condition]))
    }

    /// True for objects that satisfy at least one of the filters.
    public static func || (left: Filter, right: Filter) -> Filter {
        Filter(condition: .any([left.condition, right.condition]))
    }

    /// True for objects that do not satisfy the filter.
    public static prefix func ! (filter: Filter) -> Filter { Filter(condition: .not(filter.condition)) }
}

extension Filter.Key {
    /// Equality; a to-one relationship is compared with the `objectID` of an object, saved or not.
    public static func == (key: Filter.Key, value: (any Sendable)?) -> Filter { key.compared(.equal, value) }
    /// The opposite of equality: true for nil if the value is not nil.
    public static func != (key: Filter.Key, value: (any Sendable)?) -> Filter { key.compared(.notEqual, value) }
    /// Order; false for nil.
    public static func < (key: Filter.Key, value: any Sendable) -> Filter { key.compared(.less, value) }
    /// Order; false for nil.
    public static func <= (key: Filter.Key, value: any Sendable) -> Filter { key.compared(.lessOrEqual, value) }
    /// Order; false for nil.
    public static func > (key: Filter.Key, value: any Sendable) -> Filter { key.compared(.greater, value) }
    /// Order; false for nil.
    public static func >= (key: Filter.Key, value: any Sendable) -> Filter { key.compared(.greaterOrEqual, value) }

    /// True if the value is one of a list.
    public func isIn(_ values: [any Sendable]) -> Filter {
        Filter(condition: .isIn(key: path, values.map(FilterValue.init)))
    }

    /// True for text that contains other text, character by character.
    ///
    /// With options, objects are made to evaluate it.
    public func contains(_ text: String, _ options: Filter.TextOptions = []) -> Filter {
        if options.isEmpty { return Filter(condition: .contains(key: path, text)) }
        return Filter(condition: .text(key: path, TextTest(.inside, text, options)))
    }

    /// True for text that begins with other text, character by character.
    ///
    /// With options, objects are made to evaluate it.
    public func beginsWith(_ text: String, _ options: Filter.TextOptions = []) -> Filter {
        if options.isEmpty { return Filter(condition: .beginsWith(key: path, text)) }
        return Filter(condition: .text(key: path, TextTest(.beginning, text, options)))
    }

    /// True for text that ends with other text, character by character; objects are made to evaluate it.
    public func endsWith(_ text: String, _ options: Filter.TextOptions = []) -> Filter {
        Filter(condition: .text(key: path, TextTest(.end, text, options)))
    }

    /// True for text that is equal except for some differences; objects are made to evaluate it.
    public func isEqual(to text: String, _ options: Filter.TextOptions) -> Filter {
        Filter(condition: .text(key: path, TextTest(.whole, text, options)))
    }

    /// Two properties cannot be compared: a filter compares a property with a value.
    @available(*, unavailable, message: "A filter compares a property with a value. Use Filter.matching.")
    public static func == (left: Filter.Key, right: Filter.Key) -> Filter { left.compared(.equal, nil) }
    /// Two properties cannot be compared: a filter compares a property with a value.
    @available(*, unavailable, message: "A filter compares a property with a value. Use Filter.matching.")
    public static func != (left: Filter.Key, right: Filter.Key) -> Filter { left.compared(.notEqual, nil) }
    /// Two properties cannot be compared: a filter compares a property with a value.
    @available(*, unavailable, message: "A filter compares a property with a value. Use Filter.matching.")
    public static func < (left: Filter.Key, right: Filter.Key) -> Filter { left.compared(.less, nil) }
    /// Two properties cannot be compared: a filter compares a property with a value.
    @available(*, unavailable, message: "A filter compares a property with a value. Use Filter.matching.")
    public static func > (left: Filter.Key, right: Filter.Key) -> Filter { left.compared(.greater, nil) }

    private func compared(_ comparison: RowComparison, _ value: (any Sendable)?) -> Filter {
        Filter(condition: .compare(key: path, comparison, FilterValue(value)))
    }
}

/// A constant of a filter in the form that rows are compared with.
enum FilterValue: Sendable {
    case row(RowValue)
    case object(PersistentIdentifier)
    /// The name of a type that no stored value can be compared with.
    case unknown(String)

    init(_ value: (any Sendable)?) {
        guard let value else {
            self = .row(.null)
            return
        }
        if let identifier = value as? PersistentIdentifier {
            self = .object(identifier)
        } else if let text = value as? Substring {
            self = .row(.string(String(text)))
        } else if let constant = PredicateLowering.constant(value) {
            self = .row(constant)
        } else {
            self = .unknown("\(type(of: value))")
        }
    }
}
