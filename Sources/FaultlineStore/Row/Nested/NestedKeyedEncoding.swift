/// Encodes the entries of a keyed container.
struct NestedKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let state: NestedEncoding
    let container: NestedContainer
    let path: NestedPath

    var codingPath: [any CodingKey] { path.keys }

    private func put(_ value: NestedValue, _ key: Key) { container.set(value, forKey: key.stringValue) }

    func encodeNil(forKey key: Key) { put(.null, key) }
    func encode(_ value: Bool, forKey key: Key) { put(.bool(value), key) }
    func encode(_ value: String, forKey key: Key) { put(.string(value), key) }
    func encode(_ value: Double, forKey key: Key) { put(.double(value), key) }
    func encode(_ value: Float, forKey key: Key) { put(.float(value), key) }
    func encode(_ value: Int, forKey key: Key) { put(.int(Int64(value)), key) }
    func encode(_ value: Int8, forKey key: Key) { put(.int(Int64(value)), key) }
    func encode(_ value: Int16, forKey key: Key) { put(.int(Int64(value)), key) }
    func encode(_ value: Int32, forKey key: Key) { put(.int(Int64(value)), key) }
    func encode(_ value: Int64, forKey key: Key) { put(.int(value), key) }
    func encode(_ value: UInt, forKey key: Key) { put(.uint(UInt64(value)), key) }
    func encode(_ value: UInt8, forKey key: Key) { put(.uint(UInt64(value)), key) }
    func encode(_ value: UInt16, forKey key: Key) { put(.uint(UInt64(value)), key) }
    func encode(_ value: UInt32, forKey key: Key) { put(.uint(UInt64(value)), key) }
    func encode(_ value: UInt64, forKey key: Key) { put(.uint(value), key) }
    func encode(_ value: Int128, forKey key: Key) { put(NestedValue(value), key) }
    func encode(_ value: UInt128, forKey key: Key) { put(NestedValue(value), key) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        put(try state.nested(value, path.adding(key)), key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(
            NestedKeyedEncoding<NestedKey>(
                state: state,
                container: nested(isKeyed: true, key),
                path: path.adding(key)
            )
        )
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        NestedUnkeyedEncoding(state: state, container: nested(isKeyed: false, key), path: path.adding(key))
    }

    private func nested(isKeyed: Bool, _ key: Key) -> NestedContainer {
        if let container = container.container(forKey: key.stringValue), container.isKeyed == isKeyed {
            return container
        }
        let nested = NestedContainer(isKeyed: isKeyed)
        put(.container(nested), key)
        return nested
    }

    func superEncoder() -> any Encoder { encoder(NestedKey.superclass) }

    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

    private func encoder(_ key: any CodingKey) -> any Encoder {
        let slot = NestedSlot()
        slot.value = .container(NestedContainer(isKeyed: true))
        container.set(.slot(slot), forKey: key.stringValue)
        return NestedValueEncoder(state: state, slot: slot, path: path.adding(key))
    }
}
