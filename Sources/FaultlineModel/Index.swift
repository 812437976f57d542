/// Lets an entity read the key paths of an index or a uniqueness constraint without knowing their root type.
package protocol KeyPathGroups {
    /// One group for each index or constraint, in order of declaration.
    var keyPathGroups: [[AnyKeyPath]] { get }
}

extension Schema {
    /// The indexes that a model declares.
    ///
    /// A written form keeps no key paths, because a key path cannot be made from a name; an entity keeps the names.
    public final class Index<T>: SchemaProperty, CustomDebugStringConvertible, Hashable, Codable {
        /// The type of an index, with its properties.
        public enum Types<P> {
            /// Ordered by value: answers equality, ranges and sorting.
            case binary([PartialKeyPath<P>])
            /// Accepted for source compatibility; the same as `binary`.
            case rtree([PartialKeyPath<P>])

            var keyPaths: [PartialKeyPath<P>] {
                switch self {
                case .binary(let keyPaths), .rtree(let keyPaths): keyPaths
                }
            }
        }

        /// The keys of an index's written form.
        public enum CodingKeys: CodingKey {
            /// The number of properties of each index.
            case indices
        }

        /// Not used.
        public var name = ""
        /// Not used.
        public var originalName = ""
        /// Not used.
        public var valueType: any Any.Type = Any.self
        /// The indexes, in order of declaration.
        public let indices: [Types<T>]

        /// Declares indexes of given types.
        public init(_ indices: Types<T>...) {
            self.indices = indices
        }

        /// Declares ordered indexes.
        public init(_ indices: [PartialKeyPath<T>]...) {
            self.indices = indices.map { .binary($0) }
        }

        /// Makes an index without properties: the entity has their names.
        public init(from decoder: any Decoder) throws {
            indices = []
        }

        /// Writes the number of properties of each index.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(indices.map(\.keyPaths.count), forKey: .indices)
        }

        /// Always false.
        public var isUnique: Bool { false }

        /// Compares the properties, in order.
        public static func == (left: Index, right: Index) -> Bool {
            left.indices.map(\.keyPaths) == right.indices.map(\.keyPaths)
        }

        /// Hashes the properties, in order.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(indices.map(\.keyPaths))
        }

        /// The key paths in Swift's notation.
        public var debugDescription: String { "#Index\(indices.map(\.keyPaths))" }
    }
}

extension Schema.Index: KeyPathGroups {
    package var keyPathGroups: [[AnyKeyPath]] { indices.map { $0.keyPaths } }
}
