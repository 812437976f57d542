internal import FaultlineStore

/// A value of a `Codable` type in the form in which it is stored, for whoever does not know the type.
///
/// It can be passed on to another object as it is, or decoded as any type that reads the same shape.
public struct CodableValue: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = Array(bytes) }

    /// Encodes a value.
    ///
    /// - Throws: What the value's own encoding throws, and an error for one that is nested too deeply.
    public init<V: Encodable>(_ value: V) throws {
        bytes = try NestedEncoder.encode(value, scalars: FoundationScalars())
    }

    /// Decodes the value as a type.
    ///
    /// - Throws: `DecodingError` if the stored value does not have the type's shape.
    public func decode<V: Decodable>(as type: V.Type = V.self) throws -> V {
        try bytes.withUnsafeBytes { try NestedDecoder.decode(type, from: $0, scalars: FoundationScalars()) }
    }
}
