/// Encodes the elements of an array.
struct NestedUnkeyedEncoding: UnkeyedEncodingContainer {
    let state: NestedEncoding
    let container: NestedContainer
    let path: NestedPath

    var codingPath: [any CodingKey] { path.keys }

    var count: Int { container.values.count }

    private func put(_ value: NestedValue) { container.append(value) }

    func encodeNil() { put(.null) }
    func encode(_ value: Bool) { put(.bool(value)) }
    func encode(_ value: String) { put(.string(value)) }
    func encode(_ value: Double) { put(.double(value)) }
    func encode(_ value: Float) { put(.float(value)) }
    func encode(_ value: Int) { put(.int(Int64(value))) }
    func encode(_ value: Int8) { put(.int(Int64(value))) }
    func encode(_ value: Int16) { put(.int(Int64(value))) }
    func encode(_ value: Int32) { put(.int(Int64(value))) }
    func encode(_ value: Int64) { put(.int(value)) }
    func encode(_ value: UInt) { put(.uint(UInt64(value))) }
    func encode(_ value: UInt8) { put(.uint(UInt64(value))) }
    func encode(_ value: UInt16) { put(.uint(UInt64(value))) }
    func encode(_ value: UInt32) { put(.uint(UInt64(value))) }
    func encode(_ value: UInt64) { put(.uint(value)) }
    func encode(_ value: Int128) { put(NestedValue(value)) }
    func encode(_ value: UInt128) { put(NestedValue(value)) }

    func encode<Value: Encodable>(_ value: Value) throws {
        put(try state.nested(value, path.adding(count)))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        let elementPath = path.adding(count)
        let nested = NestedContainer(isKeyed: true)
        put(.container(nested))
        return KeyedEncodingContainer(
            NestedKeyedEncoding<NestedKey>(state: state, container: nested, path: elementPath)
        )
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let elementPath = path.adding(count)
        let nested = NestedContainer(isKeyed: false)
        put(.container(nested))
        return NestedUnkeyedEncoding(state: state, container: nested, path: elementPath)
    }

    func superEncoder() -> any Encoder {
        let elementPath = path.adding(count)
        let slot = NestedSlot()
        slot.value = .container(NestedContainer(isKeyed: true))
        put(.slot(slot))
        return NestedValueEncoder(state: state, slot: slot, path: elementPath)
    }
}
