/// Decodes any `Decodable` value from a tree of bytes.
package struct NestedDecoder {
    /// Decodes one value that `NestedEncoder` wrote; nothing in the bytes is trusted.
    ///
    /// `scalars` defines the types that are stored as scalars. Throws `DecodingError`, or the error of the type's own
    /// `init(from:)`.
    package static func decode<Value: Decodable>(
        _ type: Value.Type,
        from bytes: UnsafeRawBufferPointer,
        scalars: any NestedScalarCoding = NoNestedScalars(),
        userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws -> Value {
        let state = NestedDecoding(scalars: scalars, userInfo: userInfo)
        // The bytes are borrowed: a decoder that a type kept finds the state closed.
        defer { state.isOpen = false }
        guard let view = NestedView(bytes) else { throw state.corruption(.root) }
        return try state.decode(type, NestedPlace(view: view, depth: 0), .root)
    }
}

/// A value of the tree, with the depth of containers around it.
struct NestedPlace {
    let view: NestedView
    let depth: Int
}

/// The state that the decoders of one value share.
final class NestedDecoding {
    let scalars: any NestedScalarCoding
    let userInfo: [CodingUserInfoKey: any Sendable]
    var isOpen = true
    private var callDepth = 0

    init(scalars: any NestedScalarCoding, userInfo: [CodingUserInfoKey: any Sendable]) {
        self.scalars = scalars
        self.userInfo = userInfo
    }

    /// Decodes a value of any type at a position.
    func decode<Value: Decodable>(
        _ type: Value.Type,
        _ place: NestedPlace,
        _ path: @autoclosure () -> NestedPath
    ) throws -> Value {
        try checkOpen()
        if let primitive = try primitive(type, place.view, path()) { return primitive }
        if scalars.isScalar(type) {
            guard let scalar = place.view.scalar, let value = scalars.value(type, from: scalar) else {
                throw mismatch(type, place.view, path())
            }
            return value
        }
        guard callDepth < NestedTag.callDepthMax else { throw tooDeep(path()) }
        callDepth += 1
        defer { callDepth -= 1 }
        return try Value(from: NestedValueDecoder(state: self, place: place, path: path()))
    }

    /// The value of a common element type of arrays from the standard library; nil for other types.
    private func primitive<Value>(
        _ type: Value.Type,
        _ view: NestedView,
        _ path: @autoclosure () -> NestedPath
    ) throws -> Value? {
        func cast<Same>(_ value: Same) -> Value {
            // Safe because each call follows a test that both types are the same.
            unsafeBitCast(value, to: type)
        }
        if type == String.self { return cast(try string(view, path())) }
        if type == Int.self { return cast(try integer(Int.self, view, path())) }
        if type == Double.self { return cast(try floatingPoint(Double.self, view, path())) }
        if type == UInt8.self { return cast(try integer(UInt8.self, view, path())) }
        return nil
    }

    // MARK: Values of the standard library

    func integer<Number: FixedWidthInteger>(
        _ type: Number.Type,
        _ view: NestedView,
        _ path: @autoclosure () -> NestedPath
    ) throws -> Number {
        try checkOpen()
        if let value = view.integer(type) { return value }
        switch view.tag {
        case .int, .uint, .double, .float:
            throw corruption(path(), "The stored number does not fit in a \(type).")
        default: throw mismatch(type, view, path())
        }
    }

    func floatingPoint<Number: BinaryFloatingPoint>(
        _ type: Number.Type,
        _ view: NestedView,
        _ path: @autoclosure () -> NestedPath
    ) throws -> Number {
        try checkOpen()
        guard let value = view.floatingPoint(type) else { throw mismatch(type, view, path()) }
        return value
    }

    func bool(_ view: NestedView, _ path: @autoclosure () -> NestedPath) throws -> Bool {
        try checkOpen()
        guard let value = view.bool else { throw mismatch(Bool.self, view, path()) }
        return value
    }

    func string(_ view: NestedView, _ path: @autoclosure () -> NestedPath) throws -> String {
        try checkOpen()
        guard view.tag == .string else { throw mismatch(String.self, view, path()) }
        guard let value = view.string else { throw corruption(path()) }
        return value
    }

    // MARK: Errors

    func checkOpen() throws {
        guard isOpen else { throw corruption(.root, "A decoder was used after its value had been decoded.") }
    }

    func corruption(
        _ path: NestedPath,
        _ message: String = "The stored bytes are not a whole value."
    ) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path.keys, debugDescription: message))
    }

    func tooDeep(_ path: NestedPath) -> DecodingError {
        corruption(path, "The stored value has too many containers within each other.")
    }

    func mismatch(_ type: Any.Type, _ view: NestedView, _ path: NestedPath) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: path.keys,
            debugDescription: "The store has a \(view.tag) here, not a \(type)."
        )
        return view.isNil ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }
}

struct NestedValueDecoder: Decoder {
    let state: NestedDecoding
    let place: NestedPlace
    let path: NestedPath

    var codingPath: [any CodingKey] { path.keys }
    var userInfo: [CodingUserInfoKey: Any] { state.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try check(.keyed, [String: Any].self)
        return KeyedDecodingContainer(NestedKeyedDecoding<Key>(state: state, place: place, path: path))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try check(.array, [Any].self)
        return NestedUnkeyedDecoding(state: state, place: place, path: path)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        NestedSingleDecoding(state: state, place: place, path: path)
    }

    private func check(_ tag: NestedTag, _ type: Any.Type) throws {
        try state.checkOpen()
        guard place.depth < NestedTag.depthMax else { throw state.tooDeep(path) }
        guard place.view.tag == tag else { throw state.mismatch(type, place.view, path) }
    }
}
