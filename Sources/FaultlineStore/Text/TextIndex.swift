package import FaultlineLog
internal import FaultlineModel
package import FaultlineText

/// An index over the words of an entity's texts, and the way in which its keys are derived from rows:
/// docs/FileFormat.md 13.7.
///
/// Every object has a key for each of its terms and one for the lengths of its texts. Keys are derived only from a
/// row's stored values, so that a replay derives the same. A row is *set aside* if they are undefined: it is older than
/// a column, or has a text outside of the row. Such a row has one key, above all others, and every search reads it.
package struct TextIndex: Sendable {
    package let definition: IndexDefinition
    /// The name of the entity.
    let entityName: String
    /// Slots of the layout in force, in the order of the fields.
    package let slots: [Int]
    /// The names of the properties.
    package let names: [String]
    /// The weight of each field.
    package let weights: [Double]
    /// The slots as a mask.
    package let mask: UInt64
    package let analyzer: TextAnalyzer
    private let columns: [StoredColumn]

    init(
        number: UInt32, entityName: String, slots: [Int], names: [String], weights: [Double], columns: [StoredColumn]
    ) {
        self.entityName = entityName
        definition = IndexDefinition(
            id: IndexID(rawValue: number), isUnique: false, searchPrefix: .bytes(9), isText: true)
        self.slots = slots
        self.names = names
        self.weights = weights.count == slots.count ? weights : slots.map { _ in 1 }
        mask = slots.reduce(0) { $0 | SlotMask.bit($1) }
        self.columns = slots.map { columns[$0] }
        analyzer = TextAnalyzer()
    }

    /// Derives the keys of a row.
    ///
    /// - Parameters:
    ///   - row: The row, viewed by the layout that it was written in.
    ///   - id: The object.
    ///   - layout: That layout.
    /// - Returns: The keys, in ascending order.
    package func keys(of row: RowView, _ id: RecordID, layout: RowLayout) -> TextKeys {
        var builder = TextKeyBuilder(id: id, fieldCount: slots.count)
        for (field, column) in columns.enumerated() {
            guard let slot = layout.slot(ofColumn: column.number), layout.columns[slot].kind == .attribute(.string),
                !row.isNil(slot) || column.missingDefault(ofLayout: layout.number) == nil
            else { return .aside }
            if row.isNil(slot) { continue }
            if row.variableFlags(slot).contains(.blob) { return .aside }
            builder.add(row.variable(slot), field: field, analyzer)
        }
        return builder.finish()
    }

    /// Derives the keys of the row that a draft of the layout in force is about to become; values outside of the row
    /// were moved out already.
    package func keys(of draft: Draft, _ id: RecordID) -> TextKeys {
        var builder = TextKeyBuilder(id: id, fieldCount: slots.count)
        for (field, slot) in slots.enumerated() where !draft.isNil(slot) {
            if draft.variableFlags(slot).contains(.blob) { return .aside }
            builder.add(draft.variable(slot), field: field, analyzer)
        }
        return builder.finish()
    }
}

extension TextIndex: Equatable {
    package static func == (left: TextIndex, right: TextIndex) -> Bool {
        left.definition == right.definition && left.slots == right.slots && left.columns == right.columns
            && left.weights == right.weights
    }
}
