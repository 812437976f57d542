internal import FaultlineStore

/// A value of a `Codable` type in its stored form, for code that does not know the type.
///
/// It can be assigned to another object unchanged, or decoded as any type of the same shape.
public struct CodableValue: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = Array(bytes) }

    /// Encodes a value.
    ///
    /// - Throws: The error of the value's own encoding, and an error for a value that is nested too deeply.
    /// - Complexity: O(n) for n bytes of the encoded value.
    public init<V: Encodable>(_ value: V) throws {
        bytes = try NestedEncoder.encode(value, scalars: FoundationScalars())
    }

    /// Decodes the value as a type.
    ///
    /// - Throws: `DecodingError` if the stored value does not have the type's shape.
    /// - Complexity: O(n) for n bytes of the encoded value.
    public func decode<V: Decodable>(as type: V.Type = V.self) throws -> V {
        try bytes.withUnsafeBytes { try NestedDecoder.decode(type, from: $0, scalars: FoundationScalars()) }
    }
}
