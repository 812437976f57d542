/// Makes a value of a decodable type from zeros, empty texts and empty collections: a placeholder for a damaged value.
enum ZeroDecoder {
    /// Nil if the type does not decode from zeros (some enums with payloads).
    static func decode(_ type: any Decodable.Type) -> Any? {
        func open<T: Decodable>(_ type: T.Type) -> Any? { try? T(from: Zeros(depth: 0)) }
        return open(type)
    }

    private static let depthMax = 64

    private struct TooDeep: Error {}

    private struct Zeros: Decoder, SingleValueDecodingContainer {
        let depth: Int
        var codingPath: [any CodingKey] { [] }
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
            guard depth < depthMax else { throw TooDeep() }
            return KeyedDecodingContainer(Keyed<Key>(depth: depth + 1))
        }
        func unkeyedContainer() throws -> any UnkeyedDecodingContainer { Unkeyed() }
        func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

        func decodeNil() -> Bool { true }
        func decode(_ type: Bool.Type) throws -> Bool { false }
        func decode(_ type: String.Type) throws -> String { "" }
        func decode(_ type: Double.Type) throws -> Double { 0 }
        func decode(_ type: Float.Type) throws -> Float { 0 }
        func decode(_ type: Int.Type) throws -> Int { 0 }
        func decode(_ type: Int8.Type) throws -> Int8 { 0 }
        func decode(_ type: Int16.Type) throws -> Int16 { 0 }
        func decode(_ type: Int32.Type) throws -> Int32 { 0 }
        func decode(_ type: Int64.Type) throws -> Int64 { 0 }
        func decode(_ type: UInt.Type) throws -> UInt { 0 }
        func decode(_ type: UInt8.Type) throws -> UInt8 { 0 }
        func decode(_ type: UInt16.Type) throws -> UInt16 { 0 }
        func decode(_ type: UInt32.Type) throws -> UInt32 { 0 }
        func decode(_ type: UInt64.Type) throws -> UInt64 { 0 }
        func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: Zeros(depth: depth + 1)) }
    }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let depth: Int
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }

        func contains(_ key: Key) -> Bool { false }
        func decodeNil(forKey key: Key) throws -> Bool { true }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try T(from: Zeros(depth: depth)) }
        func nestedContainer<NestedKey: CodingKey>(
            keyedBy type: NestedKey.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<NestedKey> {
            try Zeros(depth: depth).container(keyedBy: type)
        }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { Unkeyed() }
        func superDecoder() throws -> any Decoder { Zeros(depth: depth) }
        func superDecoder(forKey key: Key) throws -> any Decoder { Zeros(depth: depth) }
    }

    private struct Unkeyed: UnkeyedDecodingContainer {
        var codingPath: [any CodingKey] { [] }
        var count: Int? { 0 }
        var isAtEnd: Bool { true }
        var currentIndex: Int { 0 }

        mutating func decodeNil() throws -> Bool { true }
        mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { throw TooDeep() }
        mutating func nestedContainer<NestedKey: CodingKey>(
            keyedBy type: NestedKey.Type
        ) throws -> KeyedDecodingContainer<NestedKey> { throw TooDeep() }
        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw TooDeep() }
        mutating func superDecoder() throws -> any Decoder { throw TooDeep() }
    }
}
