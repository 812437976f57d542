package import FaultlineLog

/// The progress of rewriting rows of older layouts (`docs/FileFormat.md` section 7): for each table the layout, and the
/// first object that was not examined.
///
/// Rows are written in the layout in force only. So examined rows need not be examined again, until a migration gives
/// the table another layout. Damaged rows, or rows that salvage has restored, may still be older: they are read as
/// before.
package struct RewriteRecord: Codable, Sendable, Equatable {
    package struct Mark: Codable, Sendable, Equatable {
        package var table: UInt16
        package var layout: UInt16
        /// Nil when all objects were examined.
        package var next: UInt64?
    }

    package var marks: [Mark] = []

    /// The first object to examine in an entity's table; nil if none is left.
    package func next(of entity: EntityStorage) -> RecordID? {
        guard let mark = marks.first(where: { $0.table == entity.table.rawValue }), mark.layout == entity.layout.number
        else { return 1 }
        return mark.next.map { max($0, 1) }
    }

    /// Sets the progress of an entity's table.
    package mutating func set(_ next: RecordID?, of entity: EntityStorage) {
        marks.removeAll { $0.table == entity.table.rawValue }
        marks.append(Mark(table: entity.table.rawValue, layout: entity.layout.number, next: next))
    }
}
