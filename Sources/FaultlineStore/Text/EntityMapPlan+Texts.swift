internal import FaultlineModel
internal import FaultlineText

extension EntityMapPlan {
    /// Assigns numbers to the text indexes that an entity declares.
    ///
    /// An index keeps its number if existing rows have the same terms in it as before.
    mutating func addTextIndexes(
        of entity: Schema.Entity, to stored: inout StoredEntity, _ descriptions: [ColumnDescription],
        old: Schema.Entity?, _ oldStored: StoredEntity?, _ keepsTable: Bool
    ) throws(StoreError) {
        var indexes: [StoredTextIndex] = []
        for text in entity.textIndexes {
            let slots = text.properties.compactMap { name in entity.properties.firstIndex { $0.name == name } }
            guard !slots.isEmpty, slots.count == text.properties.count else { continue }
            let columns = slots.map { stored.columns[$0].number }
            let isKept = keepsTable && slots.allSatisfy { Self.hasSameKeys($0, stored, descriptions, old, oldStored) }
            let same = oldStored?.textIndexes?.first { $0.columns == columns && $0.isKnown }
            if isKept, let same {
                indexes.append(same)
                continue
            }
            let index = try newIndex(of: entity.name, hasRows: oldStored != nil && keepsTable)
            indexes.append(
                StoredTextIndex(
                    index: index, columns: columns, tokenizer: TextAnalyzer.words, version: TextAnalyzer.version))
        }
        stored.textIndexes = indexes.isEmpty ? nil : indexes
    }
}

extension EntityMap {
    /// Whether there are text indexes: older releases must not write then.
    package var hasTextIndexes: Bool { entities.contains { $0.textIndexes != nil } }

    /// The map without text indexes whose terms this release does not make.
    package var withoutUnknownTexts: EntityMap {
        var map = self
        for place in map.entities.indices {
            let known = map.entities[place].textIndexes?.filter(\.isKnown) ?? []
            map.entities[place].textIndexes = known.isEmpty ? nil : known
        }
        return map
    }

    /// Whether a schema equal in meaning to the map's declares a text index that the map does not have.
    func lacksTextIndexes(of schema: Schema) -> Bool {
        schema.entities.contains { entity in
            guard let stored = self.entity(named: entity.name) else { return false }
            return entity.textIndexes.contains { text in
                let columns = text.properties.compactMap { name in
                    stored.columns.first { $0.name == name }?.number
                }
                return !columns.isEmpty && columns.count == text.properties.count
                    && stored.textIndexes?.contains { $0.columns == columns && $0.isKnown } != true
            }
        }
    }
}
