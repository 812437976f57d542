package import FaultlineModel

extension TextIndex {
    /// Texts of an entity that are searched as if they had an index, which no state has; nil if a name is that of no
    /// text, or there is none.
    ///
    /// - Parameters:
    ///   - properties: The names of the texts; nil for all, up to the largest number of an index.
    ///   - weights: The weights; empty for 1 each.
    ///   - storage: The entity.
    ///   - entity: The same in the schema in force.
    /// - Returns: The texts.
    package static func unindexed(
        _ properties: [String]?, weights: [Double] = [], _ storage: EntityStorage, _ entity: Schema.Entity
    ) -> TextIndex? {
        let texts = entity.properties.indices.filter { entity.properties[$0].asAttribute?.isSearchableText == true }
        let names = properties ?? texts.prefix(Schema.IndexedText.propertyCountMax).map { entity.properties[$0].name }
        let slots = names.compactMap { name in texts.first { entity.properties[$0].name == name } }
        guard !slots.isEmpty, slots.count == names.count else { return nil }
        let columns = storage.layout.columns.enumerated().map { slot, column in
            StoredColumn(name: entity.properties[slot].name, number: column.number, relationshipIndex: 0)
        }
        return TextIndex(
            number: 0, entityName: entity.name, slots: slots, names: names, weights: weights, columns: columns)
    }
}
