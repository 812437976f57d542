package import FaultlineLog
package import FaultlineModel
package import FaultlineStore
internal import Foundation

/// Default values of attributes, for rows that lack the attribute.
package enum DefaultValues {
    /// Writes an attribute's default into a slot of a draft; a default of another kind is ignored.
    package static func set(_ attribute: Schema.Attribute, slot: Int, draft: inout Draft) {
        if attribute.kind == .codable, let bytes = attribute.encodedDefault {
            return bytes.withUnsafeBytes { draft.setBytes(slot, $0) }
        }
        guard let value = attribute.defaultValue, let fitted = try? AttributeValue(value, kind: attribute.kind) else {
            return
        }
        guard case .encodable(let value) = fitted else { return draft.set(fitted, slot) }
        if let bytes = try? NestedEncoder.encode(value, scalars: FoundationScalars()) {
            bytes.withUnsafeBytes { draft.setBytes(slot, $0) }
        }
    }

    /// A draft with the declared defaults of properties, which are its slots in order.
    static func draft(of properties: [any SchemaProperty], layout: RowLayout) -> Draft {
        var draft = Draft.create(layout: layout)
        for (slot, property) in properties.enumerated() {
            if let attribute = property.asAttribute, attribute.hasDefaultValue {
                set(attribute, slot: slot, draft: &draft)
            }
        }
        return draft
    }

    /// Checks that the layouts of model classes equal the current layouts: unsaved objects are written in the one and
    /// saved in the other.
    fileprivate static func checkLayouts(_ store: RowStore, _ types: [ModelType]) throws {
        for type in types {
            guard let entity = store.storage.entity(named: type.entityName) else { continue }
            let isSame =
                type.layout.fixedByteCount == entity.layout.fixedByteCount
                && type.layout.columns.count == entity.layout.columns.count
                && zip(type.layout.columns, entity.layout.columns).allSatisfy {
                    $0.kind == $1.kind && $0.offset == $1.offset && $0.width == $1.width && $0.nilBit == $1.nilBit
                        && $0.ordinal == $1.ordinal
                }
            guard isSame else {
                throw StoreError(
                    .schemaMismatch,
                    "The class \(type.entityName) does not have the properties that the container's schema gives its entity. Make the schema from the classes."
                )
            }
        }
    }
}

extension RowStore {
    /// Resolves a catalog over a log, with the declared defaults for rows that lack an attribute.
    ///
    /// - Parameters:
    ///   - log: The log that holds the rows.
    ///   - catalog: The stored schema, entity map and layouts.
    ///   - types: The model classes of objects: their layouts are checked against the current ones.
    ///   - isMigrationTarget: Whether the schema is the target of a migration under way, not the current one.
    ///   - isOfContainer: Whether contexts of an application read by it, and follow the store.
    /// - Throws: `StoreError` if schema, entity map, layouts and classes contradict each other.
    package convenience init(
        log: Log, catalog: StoredCatalog, types: [ModelType] = [], isMigrationTarget: Bool = false,
        isOfContainer: Bool = false
    ) throws {
        try self.init(
            log: log, catalog: catalog, isMigrationTarget: isMigrationTarget, isOfContainer: isOfContainer,
            setDefault: { DefaultValues.set($0, slot: $1, draft: &$2) })
        try DefaultValues.checkLayouts(self, types)
    }
}

extension Schema {
    /// Encodes the defaults of attributes that are stored in the nested encoding, so that they are known without the
    /// model classes too.
    package func encodeDefaults() { entities.forEach { $0.encodeDefaults() } }
}

extension Schema.Entity {
    /// As `Schema.encodeDefaults()`.
    func encodeDefaults() {
        for property in properties {
            guard let attribute = property.asAttribute else { continue }
            attribute.encodeDefault { try NestedEncoder.encode($0, scalars: FoundationScalars()) }
        }
    }
}

extension Draft {
    /// Writes a value of the slot's kind; nothing if the slot uses the nested encoding.
    mutating func set(_ value: AttributeValue, _ slot: Int) {
        switch value {
        case .bool(let value): setBool(slot, value)
        case .integer(let value): setInt64(slot, Int64(truncatingIfNeeded: value))
        case .float(let value): setFloat(slot, value)
        case .double(let value): setDouble(slot, value)
        case .date(let value): setDate(slot, value.timeIntervalSinceReferenceDate)
        case .uuid(let value): setUUID(slot, value.storedWords)
        case .decimal(let value): setDecimal(slot, value.stored)
        case .string(let value): setString(slot, value)
        case .url(let value): setString(slot, value.absoluteString)
        case .data(let value): value.withUnsafeBytes { setBytes(slot, $0) }
        case .encodable: break
        }
    }
}

extension Schema.Entity {
    /// Whether every declared default can be written into rows that lack the attribute: only its class may know the
    /// default of a `Codable` attribute.
    package var knowsDefaults: Bool {
        attributes.allSatisfy {
            $0.kind != .codable || !$0.hasDefaultValue || $0.encodedDefault != nil || $0.defaultValue != nil
        }
    }
}
