import FaultlineLog
import FaultlineModel
import FaultlineStore

/// Reads a nested value as an entry of the catalog, and uses the result.
enum CatalogTrial {
    private enum Entry: UInt8, CaseIterable {
        case schema, map, layout, migration, leftBehind, lineage
    }

    /// Each entry for a schema with every kind of property; the first byte has its kind.
    static func seeds() throws -> [[UInt8]] {
        let schema = sample
        let plan = try EntityMapPlan(for: schema)
        var seeds = [
            try [Entry.schema.rawValue] + NestedEncoder.encode(schema),
            try [Entry.map.rawValue] + NestedEncoder.encode(plan.map),
            try [Entry.leftBehind.rawValue] + NestedEncoder.encode(LeftBehind.blobs([1, 2])),
            try [Entry.leftBehind.rawValue] + NestedEncoder.encode(LeftBehind.table(17)),
            try [Entry.lineage.rawValue] + NestedEncoder.encode(SchemaLineage(schema)),
        ]
        for layout in plan.newLayouts { seeds.append(try [Entry.layout.rawValue] + NestedEncoder.encode(layout)) }
        return seeds
    }

    static var sample: Schema {
        let attributes: [any SchemaProperty] = AttributeKind.allCases.map { kind in
            Schema.Attribute(name: "a\(kind.rawValue)", valueType: kind.defaultValueType)
        }
        let toOne = Schema.Relationship(name: "owner", destination: "Thing", isToOne: true)
        let toMany = Schema.Relationship(name: "parts", destination: "Part", isToOne: false)
        let thing = Schema.Entity("Thing")
        thing.storedProperties = attributes + [toMany]
        return Schema(thing, Schema.Entity("Part", properties: toOne))
    }

    static func run(_ bytes: [UInt8]) throws {
        guard let first = bytes.first, let entry = Entry(rawValue: first % UInt8(Entry.allCases.count)) else { return }
        let value = Array(bytes.dropFirst())
        value.withUnsafeBytes { if let view = NestedView($0) { walk(view, depth: 0) } }
        switch entry {
        case .schema:
            guard let schema = try decoded(Schema.self, value, StoredCatalog.schema) else { return }
            try resolve(schema)
        case .map: _ = try decoded(EntityMap.self, value, StoredCatalog.entityMap)
        case .layout:
            guard let layout = try decoded(RowLayout.self, value, { try StoredCatalog.layout($0) }) else { return }
            try RowTrial.run([UInt8](repeating: 0, count: layout.fixedByteCount), of: layout)
        case .migration: _ = try decoded(MigrationRecord.self, value)
        case .leftBehind: _ = try decoded(LeftBehind.self, value)
        case .lineage: _ = try decoded(SchemaLineage.self, value)
        }
    }

    /// Encodes and decodes a decoded value again, with the same result; the openings' hand-written reader must give the
    /// same.
    private static func decoded<T: Codable>(
        _ type: T.Type, _ bytes: [UInt8], _ read: (([UInt8]) throws -> T)? = nil
    ) throws -> T? {
        let value = try? bytes.withUnsafeBytes { try NestedDecoder.decode(type, from: $0) }
        if let read {
            let byHand = try? read(bytes)
            guard try byHand.map({ try NestedEncoder.encode($0) }) == value.map({ try NestedEncoder.encode($0) }) else {
                throw FuzzViolation(description: "a \(type) read by hand is another than the one that is decoded")
            }
        }
        guard let value else { return nil }
        let encoded = try NestedEncoder.encode(value)
        let again = try NestedEncoder.encode(try encoded.withUnsafeBytes { try NestedDecoder.decode(type, from: $0) })
        guard again == encoded else { throw FuzzViolation(description: "a \(type) is another when read again") }
        return value
    }

    /// Uses a schema like the opening of a store.
    static func resolve(_ schema: Schema) throws {
        do throws(StoreError) {
            let plan = try EntityMapPlan(for: schema)
            var layouts: [UInt16: RowLayout] = [:]
            for layout in plan.newLayouts { layouts[layout.number] = layout }
            _ = try SchemaStorage(StoredCatalog(schema: schema, map: plan.map, layouts: layouts)).indexes()
        } catch {}
        _ = SchemaDifference(from: schema, to: sample)
        _ = SchemaDifference(from: sample, to: schema)
    }

    private static func walk(_ view: NestedView, depth: Int) {
        guard depth < 64 else { return }
        _ = (view.integer(Int64.self), view.integer(UInt8.self), view.floatingPoint(Double.self), view.scalar)
        for index in 0..<min(view.count, 64) {
            _ = view.key(at: index)
            if let element = view.element(at: index) { walk(element, depth: depth + 1) }
        }
        _ = view.member("name")
    }
}
