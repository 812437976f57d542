package import FaultlineModel

/// What older rows have in a column of which they store no value: the default that the attribute had when they became
/// older.
///
/// A row stores none if its layout lacks the column, or has it as nil where the attribute became required later. The
/// list of a column is in the order in which it was made, so `below` rises: layouts are numbered in the order in which
/// they are made.
package struct MissingValue: Codable, Sendable, Equatable {
    /// Rows of layouts with lower numbers have the value.
    package var below: UInt16
    /// Nil: none, and zero, or empty, where a value is required.
    package var `default`: StoredDefault?

    package init(below: UInt16, default: StoredDefault?) {
        self.below = below
        self.default = `default`
    }
}

extension StoredColumn {
    /// The default that rows of a layout have where they store no value; nil if they have none.
    func missingDefault(ofLayout layout: UInt16) -> StoredDefault? {
        // What is nil at first may be required later; what has become a value stays that.
        missing?.first { $0.below > layout && $0.default != nil }?.default
    }
}

/// The values that older rows have in the column of one property, carried on from one schema to the next.
struct MissingValues {
    /// Number of the layout that new rows of the entity are written in.
    let layout: UInt16
    /// The entity before; nil if there was none, and so are no rows.
    let old: (entity: Schema.Entity, stored: StoredEntity)?
    /// All layouts that older rows may have.
    let layouts: [UInt16: RowLayout]

    /// The list of a column; nil if every row has a value of its own, or if there is nothing to be known.
    func list(of property: any SchemaProperty, column: UInt32) -> [MissingValue]? {
        // What is never stored has the default of the schema in force.
        guard let old, let attribute = property as? Schema.Attribute, !attribute.isTransient else { return nil }
        guard let slot = old.stored.columns.firstIndex(where: { $0.number == column }),
            slot < old.entity.properties.count, let before = old.entity.properties[slot] as? Schema.Attribute
        else { return [MissingValue(below: layout, default: attribute.storedDefault)] }
        let carried = old.stored.columns[slot].missing ?? earlier(before, column, in: old.stored)
        guard before.isOptional, !attribute.isOptional else { return carried }
        return (carried ?? []) + [MissingValue(below: layout, default: attribute.storedDefault)]
    }

    /// What a catalog that says nothing of it means: the default of the schema that was in force.
    private func earlier(_ attribute: Schema.Attribute, _ column: UInt32, in stored: StoredEntity) -> [MissingValue]? {
        let columns = Set(stored.columns.map(\.number))
        var firstWithColumn = stored.layout
        var hasRowsWithout = false
        for layout in layouts.values where layout.number < stored.layout {
            if let slot = layout.slot(ofColumn: column) {
                if !attribute.isOptional, layout.columns[slot].nilBit >= 0 {
                    return [MissingValue(below: stored.layout, default: attribute.storedDefault)]
                }
                firstWithColumn = min(firstWithColumn, layout.number)
            } else if layout.columns.contains(where: { columns.contains($0.number) }) {
                hasRowsWithout = true
            }
        }
        return hasRowsWithout ? [MissingValue(below: firstWithColumn, default: attribute.storedDefault)] : nil
    }
}
