internal import FaultlineModel

/// A copy of the values of an object, without the object: it can be sent to other threads, tasks and actors.
///
/// It has attributes and the identifiers of related objects, by the names of the properties, and belongs to no context.
public struct ValueCopy: Sendable, Hashable, Identifiable {
    /// The contents of a copy beside attributes in the row and to-one relationships.
    public struct Contents: OptionSet, Sendable {
        /// The bits of the set.
        public let rawValue: Int
        /// Makes a set of bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The identifiers of the objects in collections: each collection is a walk of its index.
        public static let collections = Contents(rawValue: 1)
        /// Large values; without this option they are `.outOfRow`, with their size.
        public static let largeValues = Contents(rawValue: 2)
    }

    /// The object's identity; temporary if it was never saved.
    public let id: PersistentIdentifier
    /// The values that the copy has, by property.
    public let values: [String: PropertyValue]

    /// The value of a property; nil if the copy has none of that name.
    ///
    /// - Complexity: O(p) for p properties.
    public subscript(name: String) -> PropertyValue? { values[name] }

    /// The value of a property of a class.
    public subscript<T: PersistentModel>(keyPath: PartialKeyPath<T>) -> PropertyValue? {
        let type = T._$modelType
        guard type.root.entityName == id.entityName, let slot = type.slots[keyPath] else { return nil }
        return values[type.properties[slot].name]
    }
}

extension PropertyValue {
    /// The text of a string value.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The number of an integer value that an `Int` holds.
    public var int: Int? { if case .integer(let value) = self { Int(exactly: value) } else { nil } }
    /// The number of a floating-point value.
    public var double: Double? {
        switch self {
        case .double(let value): value
        case .float(let value): Double(value)
        default: nil
        }
    }
    /// The identifier in a to-one relationship's value.
    public var identifier: PersistentIdentifier? { if case .object(let value) = self { value } else { nil } }
}
