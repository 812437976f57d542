internal import FaultlineLog

/// The storage of a schema's entities in the log: permanent numbers of tables, layouts, columns and indexes.
///
/// Kept in the catalog (`docs/FileFormat.md` section 7), so that it changes in the same transaction as the data it
/// describes.
///
/// Invariants:
/// - a table, column, layout, link or index number is never used twice in a store, except for tables and layouts of a
///   dropped dry run, migration or stage;
/// - a property that keeps its meaning keeps its column number, under any name.
package struct EntityMap: Codable, Sendable, Equatable {
    /// Entities in the order of the schema.
    package var entities: [StoredEntity]
    /// Hidden tables of relationships that no to-one slot stores.
    package var links: [StoredLink]
    /// The next unused numbers.
    package var counters: NumberCounters

    package init(entities: [StoredEntity] = [], links: [StoredLink] = [], counters: NumberCounters = NumberCounters()) {
        self.entities = entities
        self.links = links
        self.counters = counters
    }

    /// Raw values of all tables, with those of links.
    package var tables: [UInt16] { entities.map(\.table) + links.map(\.table) }

    /// Numbers of all indexes.
    package var indexes: Set<UInt32> {
        let unique = entities.flatMap(\.uniqueIndexes).map(\.index)
        let members = entities.flatMap(\.columns).map(\.relationshipIndex).filter { $0 != 0 }
        let secondary = entities.flatMap { $0.secondaryIndexes ?? [] }.map(\.index)
        let texts = entities.flatMap { $0.textIndexes ?? [] }.map(\.index)
        return Set(unique + secondary + texts + members + links.flatMap { [$0.leftIndex, $0.rightIndex] })
    }

    /// Tables that relate objects during a migration.
    package var passingLinks: [StoredLink] { links.filter { $0.leftColumn == 0 && $0.rightColumn == 0 } }

    /// The map without these tables.
    package var withoutPassingLinks: EntityMap {
        var map = self
        map.links.removeAll { $0.leftColumn == 0 && $0.rightColumn == 0 }
        return map
    }

    package func entity(named name: String) -> StoredEntity? {
        entities.first { $0.name == name }
    }

    /// Whether both maps write rows alike; the values of older rows that lack a column do not matter.
    package func writesRows(like other: EntityMap) -> Bool {
        func plain(_ map: EntityMap) -> [StoredEntity] {
            var entities = map.entities
            for entity in entities.indices {
                for column in entities[entity].columns.indices { entities[entity].columns[column].missing = nil }
            }
            return entities
        }
        return links == other.links && (entities == other.entities || plain(self) == plain(other))
    }
}

/// One entity of an `EntityMap`.
package struct StoredEntity: Codable, Sendable, Equatable {
    package var name: String
    /// Raw value of the `TableID`.
    package var table: UInt16
    /// Number of the layout that new rows are written in.
    package var layout: UInt16
    /// One for each property, in slot order; also for to-many relationships, which have no bytes in the row.
    package var columns: [StoredColumn]
    package var uniqueIndexes: [StoredUniqueIndex]
    /// The indexes that the schema declares; nil if it declares none, or if a release without secondary indexes wrote
    /// the map.
    package var secondaryIndexes: [StoredSecondaryIndex]?
    /// The text indexes that the schema declares; nil if it declares none, or if a release without them wrote the map.
    package var textIndexes: [StoredTextIndex]?
}

/// A property of a `StoredEntity`.
package struct StoredColumn: Codable, Sendable, Equatable {
    package var name: String
    package var number: UInt32
    /// The index over this to-one relationship, if its inverse is to many; 0 for none.
    package var relationshipIndex: UInt32
    /// The values of rows that store no value of an attribute; nil if there are no such rows, or if a release wrote the
    /// column that did not keep them: then such rows have the default of the schema in force.
    package var missing: [MissingValue]?
}

/// A uniqueness constraint and its index.
package struct StoredUniqueIndex: Codable, Sendable, Equatable {
    package var index: UInt32
    /// Column numbers, in key order.
    package var columns: [UInt32]
}

/// An index over attributes that any number of objects may share.
package struct StoredSecondaryIndex: Codable, Sendable, Equatable {
    package var index: UInt32
    /// Column numbers, in key order.
    package var columns: [UInt32]
}

/// An index over the words of texts.
package struct StoredTextIndex: Codable, Sendable, Equatable {
    package var index: UInt32
    /// Column numbers, in the order of the fields.
    package var columns: [UInt32]
    /// The name of the tokenizer that makes terms, and its version: the same text has other terms under another one.
    package var tokenizer: String
    package var version: UInt16
}

/// A hidden table for a relationship that no to-one slot stores: to many without a to-one inverse, or many to many.
package struct StoredLink: Codable, Sendable, Equatable {
    package var table: UInt16
    package var layout: UInt16
    /// Column numbers of the relationship on its two sides; 0 for a side without one.
    package var leftColumn: UInt32
    package var rightColumn: UInt32
    package var leftIndex: UInt32
    package var rightIndex: UInt32
}

/// The next unused table, column, layout, index and migration numbers.
package struct NumberCounters: Codable, Sendable, Equatable {
    package var table: UInt16 = TableID.firstEntity
    package var column: UInt32 = 1
    package var layout: UInt16 = 1
    package var index: UInt32 = 1
    package var migration: UInt32 = 1

    package init() {}
}
