/// Decodes the only value of a type.
struct NestedSingleDecoding: SingleValueDecodingContainer {
    let state: NestedDecoding
    let place: NestedPlace
    let path: NestedPath

    var codingPath: [any CodingKey] { path.keys }

    func decodeNil() -> Bool { state.isOpen && place.view.isNil }

    func decode(_ type: Bool.Type) throws -> Bool { try state.bool(place.view, path) }
    func decode(_ type: String.Type) throws -> String { try state.string(place.view, path) }
    func decode(_ type: Double.Type) throws -> Double { try state.floatingPoint(type, place.view, path) }
    func decode(_ type: Float.Type) throws -> Float { try state.floatingPoint(type, place.view, path) }

    private func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        try state.integer(type, place.view, path)
    }

    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try state.decode(type, place, path) }
}
