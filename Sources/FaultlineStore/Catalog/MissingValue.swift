package import FaultlineModel

/// The value of older rows in a column of which they store no value: the default that the attribute had at that time.
///
/// A row stores no value if its layout lacks the column, or has it as nil where the attribute became required later. A
/// column's list is in the order of its creation, and layouts are numbered in that order, so `below` rises.
package struct MissingValue: Codable, Sendable, Equatable {
    /// Rows of layouts with lower numbers have the value.
    package var below: UInt16
    /// Nil means no value; a required attribute is then zero, or empty.
    package var `default`: StoredDefault?

    package init(below: UInt16, default: StoredDefault?) {
        self.below = below
        self.default = `default`
    }
}

extension StoredColumn {
    /// The default of rows of a layout that store no value; nil if they have none.
    func missingDefault(ofLayout layout: UInt16) -> StoredDefault? {
        // A missing value that was nil may become required later; one that has become a value keeps it.
        missing?.first { $0.below > layout && $0.default != nil }?.default
    }
}

/// The values that older rows have in the column of one property, carried from one schema to the next.
struct MissingValues {
    /// Number of the layout that new rows of the entity are written in.
    let layout: UInt16
    /// The previous entity; nil if there was none, and thus no rows.
    let old: (entity: Schema.Entity, stored: StoredEntity)?
    /// All layouts that older rows may have.
    let layouts: [UInt16: RowLayout]

    /// The list of a column; nil if every row has its own value, or if nothing is known.
    func list(of property: any SchemaProperty, column: UInt32) -> [MissingValue]? {
        // A value that is never stored has the default of the schema in force.
        guard let old, let attribute = property as? Schema.Attribute, !attribute.isTransient else { return nil }
        guard let slot = old.stored.columns.firstIndex(where: { $0.number == column }),
            slot < old.entity.properties.count, let before = old.entity.properties[slot] as? Schema.Attribute
        else { return [MissingValue(below: layout, default: attribute.storedDefault)] }
        let carried = old.stored.columns[slot].missing ?? earlier(before, column, in: old.stored)
        guard before.isOptional, !attribute.isOptional else { return carried }
        return (carried ?? []) + [MissingValue(below: layout, default: attribute.storedDefault)]
    }

    /// The meaning of a catalog without the list: the default of the schema that was in force.
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

extension [StoredColumn] {
    /// Lets the rows of older layouts have the mark of a class: they are objects of the class that was the root.
    mutating func markOlderRows(as className: String, _ layout: UInt16) {
        let name = Schema.Heir.markName(of: className)
        guard let place = firstIndex(where: { $0.name == name }) else { return }
        let mark = Schema.Attribute(name: name, valueType: Bool?.self, defaultValue: true)
        self[place].missing = [MissingValue(below: layout, default: mark.storedDefault)]
    }
}
