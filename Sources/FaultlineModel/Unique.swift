extension Schema {
    /// The groups of properties whose values no two objects of a model share.
    ///
    /// A written form has no key paths, because a key path cannot be made from a name; an entity has the names.
    public final class Unique<T>: SchemaProperty, CustomDebugStringConvertible, Hashable, Codable {
        /// The keys of a constraint's written form.
        public enum CodingKeys: CodingKey {
            /// The number of properties of each constraint.
            case constraints
        }

        /// Not used.
        public var name = ""
        /// Not used.
        public var originalName = ""
        /// Not used.
        public var valueType: any Any.Type = Any.self
        /// The groups of properties, in order of declaration.
        public let constraints: [[PartialKeyPath<T>]]

        /// Declares constraints, each a group of properties.
        public init(_ constraints: [PartialKeyPath<T>]...) {
            self.constraints = constraints
        }

        /// Makes a constraint without properties: the entity has their names.
        public init(from decoder: any Decoder) throws {
            constraints = []
        }

        /// Writes the number of properties of each constraint.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(constraints.map(\.count), forKey: .constraints)
        }

        /// Always true.
        public var isUnique: Bool { true }

        /// Compares the properties, in order.
        public static func == (left: Unique, right: Unique) -> Bool {
            left.constraints == right.constraints
        }

        /// Hashes the properties, in order.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(constraints)
        }

        /// The key paths in Swift's notation.
        public var debugDescription: String { "#Unique\(constraints)" }
    }
}

extension Schema.Unique: KeyPathGroups {
    package var keyPathGroups: [[AnyKeyPath]] { constraints }
}
