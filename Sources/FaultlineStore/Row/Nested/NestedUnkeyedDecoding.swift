/// Decodes the elements of an array.
struct NestedUnkeyedDecoding: UnkeyedDecodingContainer {
    let state: NestedDecoding
    let place: NestedPlace
    let path: NestedPath
    private(set) var currentIndex = 0

    var codingPath: [any CodingKey] { path.keys }

    init(state: NestedDecoding, place: NestedPlace, path: NestedPath) {
        self.state = state
        self.place = place
        self.path = path
    }

    var count: Int? { state.isOpen ? place.view.count : 0 }

    var isAtEnd: Bool { !state.isOpen || currentIndex >= place.view.count }

    private var elementPath: NestedPath { path.adding(currentIndex) }

    /// The element to decode next; it counts as decoded only if that succeeds.
    private func view(_ type: Any.Type) throws -> NestedView {
        try state.checkOpen()
        guard currentIndex < place.view.count else {
            throw DecodingError.valueNotFound(
                type,
                DecodingError.Context(
                    codingPath: elementPath.keys,
                    debugDescription: "The stored array has no more elements."
                )
            )
        }
        guard let view = place.view.element(at: currentIndex) else { throw state.corruption(elementPath) }
        return view
    }

    private mutating func take<Value>(_ value: Value) -> Value {
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard try view(Any?.self).isNil else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { take(try state.bool(try view(type), elementPath)) }

    mutating func decode(_ type: String.Type) throws -> String { take(try state.string(try view(type), elementPath)) }

    mutating func decode(_ type: Double.Type) throws -> Double {
        take(try state.floatingPoint(type, try view(type), elementPath))
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        take(try state.floatingPoint(type, try view(type), elementPath))
    }

    private mutating func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        take(try state.integer(type, try view(type), elementPath))
    }

    mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let place = NestedPlace(view: try view(type), depth: place.depth + 1)
        return take(try state.decode(type, place, elementPath))
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        take(try decoder([String: Any].self).container(keyedBy: type))
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        take(try decoder([Any].self).unkeyedContainer())
    }

    mutating func superDecoder() throws -> any Decoder { take(try decoder((any Decoder).self)) }

    private func decoder(_ type: Any.Type) throws -> NestedValueDecoder {
        NestedValueDecoder(
            state: state,
            place: NestedPlace(view: try view(type), depth: place.depth + 1),
            path: elementPath
        )
    }
}
