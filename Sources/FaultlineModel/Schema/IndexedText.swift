extension Schema {
    /// Texts of an entity in which objects can be searched for words together.
    public struct IndexedText: Codable, Hashable, Sendable {
        /// The largest number of properties of one index.
        package static let propertyCountMax = 32

        /// The names of the properties, which are texts.
        public let properties: [String]
        /// The weight of each property in the rank of an object; empty if all have the weight 1.
        public let weights: [Double]

        /// Makes a group of texts.
        ///
        /// - Parameters:
        ///   - properties: The names of the properties, which are texts.
        ///   - weights: The weight of each property in the rank of an object; empty for 1 each.
        public init(_ properties: [String], weights: [Double] = []) {
            self.properties = properties
            self.weights = weights
        }
    }
}

extension Schema.Entity {
    /// The groups of texts that have an index: those that the entity declares, then one of all attributes that are
    /// marked `.spotlight` and are not stored externally.
    ///
    /// None occurs twice.
    package var textIndexes: [Schema.IndexedText] {
        let marked = properties.compactMap { $0.asAttribute }
            .filter { $0.options.contains(.spotlight) && $0.isIndexableText }
            .prefix(Schema.IndexedText.propertyCountMax).map(\.name)
        var groups: [Schema.IndexedText] = []
        for group in indexedTexts + (marked.isEmpty ? [] : [Schema.IndexedText(Array(marked))])
        where !groups.contains(where: { $0.properties == group.properties }) {
            groups.append(group)
        }
        return groups
    }
}

extension Schema.Attribute {
    /// Whether values are texts that are stored.
    package var isSearchableText: Bool { kind == .string && !isTransient }

    /// Whether an index can have the values: their rows have them, but for long ones.
    package var isIndexableText: Bool { isSearchableText && !isStoredExternally }
}
