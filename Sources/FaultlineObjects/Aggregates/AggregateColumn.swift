internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// A slot whose values an aggregate uses, from rows and from drafts.
struct AggregateColumn {
    let slot: Int
    let kind: ColumnKind
    /// For a to-one slot, the objects that it may lead to.
    let targets: ReferenceTargets?
    /// Whether only the presence of a value matters: then no large value is read.
    var isCounted = false

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
        case .toOne: return identifier(row.toOne(slot))
        case _ where kind.isSignedInteger: return .int(row.int64(slot))
        case _ where kind.isUnsignedInteger: return .uint(row.uint64(slot))
        default:
            if let reference = row.blobReference(slot) {
                if isCounted { return .bool(true) }
                return try load(reference).withUnsafeBytes { variable($0) }
            }
            return variable(row.variable(slot))
        }
    }

    private func identifier(_ bits: UInt64) -> RowValue {
        bits == 0 || targets?.isGone(bits) == true ? .null : .identifier(bits)
    }

    private func variable(_ bytes: UnsafeRawBufferPointer) -> RowValue {
        kind.isText ? .string(String(decoding: bytes, as: UTF8.self)) : .data([UInt8](bytes))
    }

    /// Appends a key; the keys' order as bytes is the values' order.
    func appendKey(of value: RowValue, to key: inout KeyWriter) {
        switch value {
        case .null: key.appendNil()
        case .identifier(let bits): key.appendIdentifier(bits)
        case .bool(let value): key.appendBool(value)
        case .int(let value): key.appendInt64(value)
        case .uint(let value): key.appendUInt64(value)
        case .double(let value): key.appendDouble(value)
        case .float(let value): key.appendFloat(value)
        case .string(let value): key.appendString(value)
        case .data(let value): value.withUnsafeBytes { key.appendData($0) }
        case .uuid(let first, let second): key.appendUUID((first, second))
        case .decimal(let value): key.appendDecimal(value)
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
}

extension RowView: SlotValues {}
extension Draft: SlotValues {}
