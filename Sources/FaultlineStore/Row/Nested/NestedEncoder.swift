/// Encodes any `Encodable` value as a tree of bytes in which members can be found without decoding the rest.
///
/// Entries of dictionaries and sets are sorted, so that equal values give equal bytes in every process; other
/// containers keep the order in which they were written.
package struct NestedEncoder {
    /// Encodes a value; `scalars` defines the types that are stored as scalars.
    ///
    /// Throws `EncodingError`, or the error of the value's own `encode(to:)`.
    package static func encode<Value: Encodable>(
        _ value: Value,
        scalars: any NestedScalarCoding = NoNestedScalars(),
        userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws -> [UInt8] {
        let state = NestedEncoding(scalars: scalars, userInfo: userInfo)
        let nested = try state.nested(value, .root)
        if let misuse = state.misuse { throw misuse }
        guard let bytes = nested.bytes else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: [],
                    debugDescription: "The value has more than \(NestedTag.depthMax) containers within each other, "
                        + "or more than 4 GiB."
                )
            )
        }
        return bytes
    }
}

/// The state that the encoders of one value share.
final class NestedEncoding {
    let scalars: any NestedScalarCoding
    let userInfo: [CodingUserInfoKey: any Sendable]
    /// The first wrong use of an encoder by a type: two values or containers of different forms at one position.
    var misuse: EncodingError?
    private var callDepth = 0

    init(scalars: any NestedScalarCoding, userInfo: [CodingUserInfoKey: any Sendable]) {
        self.scalars = scalars
        self.userInfo = userInfo
    }

    /// The tree of a value of any type.
    func nested<Value: Encodable>(_ value: Value, _ path: NestedPath) throws -> NestedValue {
        if let primitive = NestedValue(primitive: value) { return primitive }
        if let scalar = scalars.scalar(for: value) { return NestedValue(scalar) }
        guard callDepth < NestedTag.callDepthMax else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(codingPath: path.keys, debugDescription: "Values lie too deep within each other.")
            )
        }
        callDepth += 1
        defer { callDepth -= 1 }
        let slot = NestedSlot()
        try value.encode(to: NestedValueEncoder(state: self, slot: slot, path: path))
        guard slot.isFilled else { return .container(NestedContainer(isKeyed: true)) }
        if case .container(let container) = slot.value, let unordered = Value.self as? any NestedUnordered.Type {
            container.sort(isPaired: unordered.isPaired)
        }
        return slot.value
    }

    func noteMisuse(_ path: NestedPath) {
        guard misuse == nil else { return }
        misuse = EncodingError.invalidValue(
            path.keys.map(\.stringValue),
            EncodingError.Context(
                codingPath: path.keys,
                debugDescription: "A type asked its encoder for containers of two kinds, or encoded two single values."
            )
        )
    }
}

/// Collections whose order changes from process to process.
private protocol NestedUnordered {
    /// Whether elements of an array are alternately keys and values.
    static var isPaired: Bool { get }
}

extension Dictionary: NestedUnordered {
    fileprivate static var isPaired: Bool { true }
}

extension Set: NestedUnordered {
    fileprivate static var isPaired: Bool { false }
}

struct NestedValueEncoder: Encoder {
    let state: NestedEncoding
    let slot: NestedSlot
    let path: NestedPath

    var codingPath: [any CodingKey] { path.keys }

    var userInfo: [CodingUserInfoKey: Any] { state.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(
            NestedKeyedEncoding<Key>(state: state, container: container(isKeyed: true), path: path)
        )
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        NestedUnkeyedEncoding(state: state, container: container(isKeyed: false), path: path)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        NestedSingleEncoding(state: state, slot: slot, path: path)
    }

    /// The container of this position, which a type may request more than once.
    private func container(isKeyed: Bool) -> NestedContainer {
        if slot.isFilled {
            if case .container(let container) = slot.value, container.isKeyed == isKeyed { return container }
            state.noteMisuse(path)
        }
        let container = NestedContainer(isKeyed: isKeyed)
        slot.value = .container(container)
        slot.isFilled = true
        return container
    }
}
