/// Finds keys of a container: in the order written without a search, in large containers by a table.
private final class NestedKeyFinder {
    /// The number of keys from which a table is built when a key is not the next one.
    private static let tableCountMin = 16

    private let view: NestedView
    private var next = 0
    private lazy var table: [String: Int] = {
        var table: [String: Int] = [:]
        for index in 0..<view.count {
            guard let key = view.key(at: index), let text = String(validating: key, as: UTF8.self) else { continue }
            if table[text] == nil { table[text] = index }
        }
        return table
    }()

    init(_ view: NestedView) { self.view = view }

    func index(of key: String) -> Int? {
        var key = key
        let found = key.withUTF8 { key in
            let bytes = UnsafeRawBufferPointer(key)
            if let candidate = view.key(at: next), StoredText.areEqual(candidate, bytes) { return Optional(next) }
            return view.count < Self.tableCountMin ? view.index(ofKey: bytes, from: next) : nil
        }
        guard let index = found ?? (view.count < Self.tableCountMin ? nil : table[key]) else { return nil }
        next = index
        return index
    }

    /// Marks the last key found as used, so that the next search begins behind it.
    func advance() { next = next + 1 < view.count ? next + 1 : 0 }
}

/// Decodes the entries of a keyed container.
struct NestedKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let state: NestedDecoding
    let place: NestedPlace
    let path: NestedPath
    private let finder: NestedKeyFinder

    var codingPath: [any CodingKey] { path.keys }

    init(state: NestedDecoding, place: NestedPlace, path: NestedPath) {
        self.state = state
        self.place = place
        self.path = path
        finder = NestedKeyFinder(place.view)
    }

    var allKeys: [Key] {
        guard state.isOpen else { return [] }
        return (0..<place.view.count).compactMap { index in
            place.view.key(at: index).flatMap { String(validating: $0, as: UTF8.self) }
                .flatMap { Key(stringValue: $0) }
        }
    }

    func contains(_ key: Key) -> Bool { state.isOpen && finder.index(of: key.stringValue) != nil }

    private func view(_ key: any CodingKey) throws -> NestedView {
        try state.checkOpen()
        guard let index = finder.index(of: key.stringValue) else {
            throw DecodingError.keyNotFound(
                key,
                DecodingError.Context(
                    codingPath: codingPath,
                    debugDescription: "The stored value has no \(key.stringValue)."
                )
            )
        }
        guard let view = place.view.element(at: index) else { throw state.corruption(path.adding(key)) }
        return view
    }

    /// The view of a key that is now decoded, and not requested again.
    private func use(_ key: any CodingKey) throws -> NestedView {
        let view = try view(key)
        finder.advance()
        return view
    }

    func decodeNil(forKey key: Key) throws -> Bool { try view(key).isNil }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try state.bool(try use(key), path.adding(key))
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try state.string(try use(key), path.adding(key))
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try state.floatingPoint(type, try use(key), path.adding(key))
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try state.floatingPoint(type, try use(key), path.adding(key))
    }

    private func integer<Number: FixedWidthInteger>(_ type: Number.Type, _ key: Key) throws -> Number {
        try state.integer(type, try use(key), path.adding(key))
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(type, key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(type, key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(type, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(type, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(type, key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(type, key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(type, key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(type, key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(type, key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(type, key) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(type, key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(type, key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try state.decode(type, NestedPlace(view: try use(key), depth: place.depth + 1), path.adding(key))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder(NestedKey.superclass) }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: any CodingKey) throws -> NestedValueDecoder {
        NestedValueDecoder(
            state: state,
            place: NestedPlace(view: try use(key), depth: place.depth + 1),
            path: path.adding(key)
        )
    }
}
