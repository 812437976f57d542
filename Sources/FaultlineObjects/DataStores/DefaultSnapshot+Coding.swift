internal import FaultlineModel
internal import Foundation

extension DefaultSnapshot {
    // Safe because a constant text is the name of a key.
    /// The key of a `Schema` in the user information of a decoder that reads snapshots outside of a data store's call.
    ///
    ///     decoder.userInfo[DefaultSnapshot.schemaKey] = container.schema
    public static let schemaKey = CodingUserInfoKey(rawValue: "faultline.snapshotSchema").unsafelyUnwrapped
}

extension DefaultSnapshot {
    /// The key of the class of an object whose identity is that of a superclass.
    private static let className = DataStoreSnapshotCodingKey.modeledProperty("$class")

    /// Encodes the identity, and each value under the name of its property.
    ///
    /// - Throws: The errors of the encoder; an error for a value of a `Codable` type that the schema does not know.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
        if entityName != persistentIdentifier.entityName { try container.encode(entityName, forKey: Self.className) }
        let properties = Self.properties(entityName, encoder.userInfo)
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            let key = DataStoreSnapshotCodingKey.modeledProperty(name)
            switch value {
            case .null: try container.encodeNil(forKey: key)
            case .bool(let value): try container.encode(value, forKey: key)
            case .integer(let value):
                if let small = Int64(exactly: value) {
                    try container.encode(small, forKey: key)
                } else {
                    try container.encode(UInt64(truncatingIfNeeded: value), forKey: key)
                }
            case .float(let value): try container.encode(value, forKey: key)
            case .double(let value): try container.encode(value, forKey: key)
            case .date(let value): try container.encode(value, forKey: key)
            case .uuid(let value): try container.encode(value, forKey: key)
            case .decimal(let value): try container.encode(value, forKey: key)
            case .string(let value): try container.encode(value, forKey: key)
            case .url(let value): try container.encode(value, forKey: key)
            case .data(let value): try container.encode(value, forKey: key)
            case .object(let target): try container.encode(target, forKey: key)
            case .objects(let targets): try container.encode(targets, forKey: key)
            case .codable(let value):
                if let type = properties?[name]?.codableType {
                    try container.encode(value.decoded(as: type), forKey: key)
                } else {
                    try container.encode(Data(value.bytes), forKey: key)
                }
            case .outOfRow:
                throw EncodingError.invalidValue(
                    value,
                    .init(codingPath: container.codingPath + [key], debugDescription: "The value was not read."))
            }
        }
    }

    /// Decodes a snapshot that `encode(to:)` wrote; a property that is missing is missing in the snapshot.
    ///
    /// - Throws: `DecodingError` for values of other types, for an entity that the schema lacks, and outside of a call of
    ///   a data store, unless `userInfo[DefaultSnapshot.schemaKey]` has the schema.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        let identifier = try container.decode(PersistentIdentifier.self, forKey: .persistentIdentifier)
        let name = try container.decodeIfPresent(String.self, forKey: Self.className) ?? identifier.entityName
        guard let properties = Self.properties(name, decoder.userInfo) else {
            throw DecodingError.dataCorruptedError(
                forKey: .persistentIdentifier, in: container,
                debugDescription:
                    "No schema with an entity \"\(name.excerpt)\" is known here. Decode snapshots in the calls of a data store, or set userInfo[DefaultSnapshot.schemaKey]."
            )
        }
        var values = [String: PropertyValue](minimumCapacity: properties.count)
        for (name, property) in properties where !property.isTransient {
            let key = DataStoreSnapshotCodingKey.modeledProperty(name)
            guard container.contains(key) else { continue }
            values[name] = try container.decodeNil(forKey: key) ? .null : Self.value(container, key, property)
        }
        self.init(identifier, entityName: name, values: values)
    }

    private static func value(
        _ container: KeyedDecodingContainer<DataStoreSnapshotCodingKey>, _ key: DataStoreSnapshotCodingKey,
        _ property: any SchemaProperty
    ) throws -> PropertyValue {
        if let relationship = property.asRelationship {
            return relationship.isToOneRelationship
                ? .object(try container.decode(PersistentIdentifier.self, forKey: key))
                : .objects(try container.decode([PersistentIdentifier].self, forKey: key))
        }
        switch property.asAttribute?.kind ?? .codable {
        case .bool: return .bool(try container.decode(Bool.self, forKey: key))
        case .int8: return .integer(Int128(try container.decode(Int8.self, forKey: key)))
        case .int16: return .integer(Int128(try container.decode(Int16.self, forKey: key)))
        case .int32: return .integer(Int128(try container.decode(Int32.self, forKey: key)))
        case .int64: return .integer(Int128(try container.decode(Int64.self, forKey: key)))
        case .uint8: return .integer(Int128(try container.decode(UInt8.self, forKey: key)))
        case .uint16: return .integer(Int128(try container.decode(UInt16.self, forKey: key)))
        case .uint32: return .integer(Int128(try container.decode(UInt32.self, forKey: key)))
        case .uint64: return .integer(Int128(try container.decode(UInt64.self, forKey: key)))
        case .float: return .float(try container.decode(Float.self, forKey: key))
        case .double: return .double(try container.decode(Double.self, forKey: key))
        case .date: return .date(try container.decode(Date.self, forKey: key))
        case .uuid: return .uuid(try container.decode(UUID.self, forKey: key))
        case .decimal: return .decimal(try container.decode(Decimal.self, forKey: key))
        case .string: return .string(try container.decode(String.self, forKey: key))
        case .url: return .url(try container.decode(URL.self, forKey: key))
        case .data: return .data(try container.decode(Data.self, forKey: key))
        case .codable:
            if let type = property.codableType {
                func open<V: Codable>(_ type: V.Type) throws -> CodableValue {
                    try CodableValue(container.decode(type, forKey: key))
                }
                return .codable(try open(type))
            }
            let bytes = try container.decode(Data.self, forKey: key)
            return .codable(bytes.withUnsafeBytes { CodableValue($0) })
        }
    }

    /// The properties of a class by name; nil if no schema with it is known here.
    private static func properties(
        _ entityName: String, _ userInfo: [CodingUserInfoKey: Any]
    ) -> [String: any SchemaProperty]? {
        if let schema = userInfo[schemaKey] as? Schema {
            return schema.propertiesByName(ofEntity: entityName)
        }
        return DataStoreCall.current?.properties(ofEntity: entityName)
    }
}

extension SchemaProperty {
    /// The type of the values of a `Codable` attribute; nil if it is not known.
    fileprivate var codableType: (any Codable.Type)? { unwrappedType(valueType) as? any Codable.Type }
}

extension CodableValue {
    /// The value as one of a type that is known at run time.
    fileprivate func decoded(as type: any Codable.Type) throws -> any Encodable {
        func open<V: Codable>(_ type: V.Type) throws -> any Encodable { try decode(as: type) }
        return try open(type)
    }
}
