package import FaultlineLog

/// How far rows of older layouts were looked at and written anew (`docs/FileFormat.md` section 7): of each table the
/// layout, and the first object that was not looked at.
///
/// Rows are written in the layout in force alone, so those that were looked at need not be again, until a migration gives
/// the table another layout. Rows that do not verify, or that salvage has brought back, may be older all the same: they are
/// read as ever.
package struct RewriteRecord: Codable, Sendable, Equatable {
    package struct Mark: Codable, Sendable, Equatable {
        package var table: UInt16
        package var layout: UInt16
        /// Nil when all objects were looked at.
        package var next: UInt64?
    }

    package var marks: [Mark] = []

    /// The first object to look at in an entity's table; nil if none is left.
    package func next(of entity: EntityStorage) -> RecordID? {
        guard let mark = marks.first(where: { $0.table == entity.table.rawValue }), mark.layout == entity.layout.number
        else { return 1 }
        return mark.next.map { max($0, 1) }
    }

    /// Sets how far an entity's table is done.
    package mutating func set(_ next: RecordID?, of entity: EntityStorage) {
        marks.removeAll { $0.table == entity.table.rawValue }
        marks.append(Mark(table: entity.table.rawValue, layout: entity.layout.number, next: next))
    }
}
