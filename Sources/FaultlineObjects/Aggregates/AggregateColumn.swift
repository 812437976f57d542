internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// A slot whose values an aggregate uses, from rows and from drafts.
struct AggregateColumn {
    let slot: Int
    let kind: ColumnKind
    /// For a to-one slot, the objects that it may lead to.
    let targets: ReferenceTargets?

    /// Reads a large value.
    typealias Load = (BlobReference) throws -> [UInt8]

    /// The value in a row or a draft; a dangling reference is nil.
    func value(of row: some SlotValues, _ load: Load) throws -> RowValue {
        if row.isNil(slot) { return .null }
        switch kind {
        case .attribute(.bool): return .bool(row.bool(slot))
        case .attribute(.float): return .float(row.float(slot))
        case .attribute(.double), .attribute(.date): return .double(row.double(slot))
        case .attribute(.uuid):
            let words = row.uuid(slot)
            return .uuid(words.0, words.1)
        case .attribute(.decimal): return .decimal(row.decimal(slot))
        case .toOne:
            let bits = row.toOne(slot)
            return isNil(bits) ? .null : .identifier(bits)
        case _ where kind.isSignedInteger: return .int(row.int64(slot))
        case _ where kind.isUnsignedInteger: return .uint(row.uint64(slot))
        default:
            if let reference = row.blobReference(slot) {
                return try load(reference).withUnsafeBytes { variable($0) }
            }
            return variable(row.variable(slot))
        }
    }

    private func isNil(_ bits: UInt64) -> Bool { bits == 0 || targets?.isGone(bits) == true }

    private func variable(_ bytes: UnsafeRawBufferPointer) -> RowValue {
        kind.isText ? .string(String(decoding: bytes, as: UTF8.self)) : .data([UInt8](bytes))
    }

    /// Whether a row or a draft has no value; a dangling reference is none.
    func isNil(in row: some SlotValues) -> Bool {
        if row.isNil(slot) { return true }
        return kind == .toOne && isNil(row.toOne(slot))
    }

    /// Appends the key of the value in a row or a draft; the keys' order as bytes is the values' order.
    func appendKey(of row: some SlotValues, to key: inout KeyWriter, _ load: Load) throws {
        if kind == .toOne {
            let bits = row.toOne(slot)
            if isNil(bits) { return key.appendNil() }
            key.appendMark(1)
            return key.appendIdentifier(bits)
        }
        if row.appendKey(slot, to: &key) { return }
        guard let reference = row.blobReference(slot) else { return key.appendNil() }
        try load(reference).withUnsafeBytes { bytes in
            if kind.isText {
                key.appendString(String(decoding: bytes, as: UTF8.self))
            } else {
                key.appendData(bytes)
            }
        }
    }
}

/// A source of values by slot: stored rows, and drafts.
protocol SlotValues {
    func isNil(_ slot: Int) -> Bool
    func bool(_ slot: Int) -> Bool
    func float(_ slot: Int) -> Float
    func double(_ slot: Int) -> Double
    func uuid(_ slot: Int) -> (UInt64, UInt64)
    func decimal(_ slot: Int) -> StoredDecimal
    func int64(_ slot: Int) -> Int64
    func uint64(_ slot: Int) -> UInt64
    func toOne(_ slot: Int) -> UInt64
    func blobReference(_ slot: Int) -> BlobReference?
    func variable(_ slot: Int) -> UnsafeRawBufferPointer
    /// Appends the key of a value; returns false if the value is outside of the row.
    func appendKey(_ slot: Int, to key: inout KeyWriter) -> Bool
}

extension RowView: SlotValues {
    func appendKey(_ slot: Int, to key: inout KeyWriter) -> Bool { key.append(row: self, slot: slot) }
}

extension Draft: SlotValues {
    func appendKey(_ slot: Int, to key: inout KeyWriter) -> Bool { key.append(draft: self, slot: slot) }
}
