/// Lets an entity read the weights of a text index without knowing its root type.
protocol TextIndexDeclaration {
    var weights: [Double] { get }
}

extension Schema {
    /// A text index that a model declares.
    ///
    /// A written form keeps no key paths, because a key path cannot be made from a name; an entity keeps the names.
    public final class TextIndex<T>: SchemaProperty, CustomDebugStringConvertible, Hashable, Codable {
        /// The keys of a text index's written form.
        public enum CodingKeys: CodingKey {
            /// The weights of the properties.
            case weights
        }

        /// Not used.
        public var name = ""
        /// Not used.
        public var originalName = ""
        /// Not used.
        public var valueType: any Any.Type = Any.self
        /// The properties, which are texts.
        public let keyPaths: [PartialKeyPath<T>]
        /// The weight of each property in the rank of an object; empty for 1 each.
        public let weights: [Double]

        /// Declares a text index.
        public init(_ keyPaths: [PartialKeyPath<T>], weights: [Double] = []) {
            self.keyPaths = keyPaths
            self.weights = weights
        }

        /// Makes an index without properties: the entity has their names.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            keyPaths = []
            weights = try container.decode([Double].self, forKey: .weights)
        }

        /// Writes the weights.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(weights, forKey: .weights)
        }

        /// Always false.
        public var isUnique: Bool { false }

        /// Compares properties and weights.
        public static func == (left: TextIndex, right: TextIndex) -> Bool {
            left.keyPaths == right.keyPaths && left.weights == right.weights
        }

        /// Hashes the properties, in order.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(keyPaths)
        }

        /// The key paths in Swift's notation.
        public var debugDescription: String { "#TextIndex\(keyPaths)" }
    }
}

extension Schema.TextIndex: KeyPathGroups, TextIndexDeclaration {
    package var keyPathGroups: [[AnyKeyPath]] { [keyPaths] }
}
