/// The first byte of each value in the tree that a codable attribute is stored as.
package enum NestedTag: UInt8, Sendable, CaseIterable {
    case null = 0
    case no = 1
    case yes = 2
    case int = 3
    case uint = 4
    case double = 5
    case float = 6
    case string = 7
    case data = 8
    case date = 9
    case uuid = 10
    case decimal = 11
    case array = 12
    case keyed = 13

    /// The largest depth of nested containers, with the outermost.
    package static let depthMax = 128
    /// The largest depth of nested calls of `encode(to:)` and `init(from:)`; types may wrap values without containers.
    static let callDepthMax = 512
    /// Bytes of a container before its table of ends: tag, total size, count.
    static let containerHeaderByteCount = 9
}

/// Values with a separate form in the tree, although their types are not of the standard library.
package enum NestedScalar: Sendable, Hashable {
    /// Seconds since 1 January 2001 UTC.
    case date(Double)
    /// The 16 bytes as two little-endian words, first bytes first.
    case uuid(UInt64, UInt64)
    case decimal(StoredDecimal)
    case data([UInt8])
    case string(String)
}

/// Defines the types that are stored as scalars: the layer above knows dates, identifiers, data, decimals and
/// addresses.
package protocol NestedScalarCoding: Sendable {
    /// The scalar to store in place of the value; nil for types that encode themselves.
    func scalar<Value: Encodable>(for value: Value) -> NestedScalar?
    /// Whether values of the type are stored as scalars.
    func isScalar<Value: Decodable>(_ type: Value.Type) -> Bool
    /// The value of a type that is stored as a scalar; nil if the scalar is not one of its own.
    func value<Value: Decodable>(_ type: Value.Type, from scalar: NestedScalar) -> Value?
}

/// Only the standard library's types.
package struct NoNestedScalars: NestedScalarCoding {
    package init() {}
    package func scalar<Value: Encodable>(for value: Value) -> NestedScalar? { nil }
    package func isScalar<Value: Decodable>(_ type: Value.Type) -> Bool { false }
    package func value<Value: Decodable>(_ type: Value.Type, from scalar: NestedScalar) -> Value? { nil }
}

/// A coding key for positions without a key of their type.
struct NestedKey: CodingKey {
    static let superclass = NestedKey(stringValue: "super")

    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}

/// The keys that lead to a value, linked from the last to the first: created for each value, but listed only in errors.
indirect enum NestedPath {
    case root
    case key(any CodingKey, in: NestedPath)

    /// The path one key further.
    func adding(_ key: any CodingKey) -> NestedPath { .key(key, in: self) }

    func adding(_ index: Int) -> NestedPath { .key(NestedKey(intValue: index), in: self) }

    var keys: [any CodingKey] {
        var keys: [any CodingKey] = []
        var path = self
        while case .key(let key, let parent) = path {
            keys.append(key)
            path = parent
        }
        return keys.reversed()
    }
}
