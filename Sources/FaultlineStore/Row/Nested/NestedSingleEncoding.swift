/// Encodes the only value of a type.
struct NestedSingleEncoding: SingleValueEncodingContainer {
    let state: NestedEncoding
    let slot: NestedSlot
    let path: NestedPath

    var codingPath: [any CodingKey] { path.keys }

    private func put(_ value: NestedValue) {
        if slot.isFilled { state.noteMisuse(path) }
        slot.value = value
        slot.isFilled = true
    }

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
        put(try state.nested(value, path))
    }
}
