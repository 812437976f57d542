import FaultlineModel
import FaultlineStore

/// A value that a test sets and expects back.
enum SampleValue: Equatable {
    case null
    /// The value of a slot without bytes in the row.
    case nothing
    case bool(Bool)
    case int(Int64)
    case float(UInt32)
    case double(UInt64)
    case uuid(UInt64, UInt64)
    case decimal(UInt64, Int32, Bool)
    case text([UInt8])
    case bytes([UInt8])
    case toOne(UInt64)
}

/// Layouts and rows for tests.
enum SampleRows {
    static let allKinds: [ColumnKind] = AttributeKind.allCases.map { .attribute($0) } + [.toOne, .link, .toMany]

    /// The employee of the workloads.
    static func employee(number: UInt16 = 1) -> RowLayout {
        RowLayout(
            number: number,
            entityName: "Employee",
            columns: [
                ColumnDescription(number: 1, kind: .attribute(.string)),
                ColumnDescription(number: 2, kind: .attribute(.string)),
                ColumnDescription(number: 3, kind: .attribute(.double)),
                ColumnDescription(number: 4, kind: .attribute(.date)),
                ColumnDescription(number: 5, kind: .attribute(.bool)),
                ColumnDescription(number: 6, kind: .attribute(.int64)),
                ColumnDescription(number: 7, kind: .attribute(.string)),
                ColumnDescription(number: 8, kind: .toOne, isOptional: true),
            ]
        )
    }

    /// Every kind, once mandatory and once optional.
    static func everything(number: UInt16 = 2) -> RowLayout {
        var columns: [ColumnDescription] = []
        for kind in allKinds {
            columns.append(ColumnDescription(number: UInt32(columns.count + 1), kind: kind))
            guard kind != .link, kind != .toMany else { continue }
            columns.append(ColumnDescription(number: UInt32(columns.count + 1), kind: kind, isOptional: true))
        }
        return RowLayout(number: number, entityName: "Everything", columns: columns)
    }

    static func randomLayout(_ seed: inout RowSeed) -> RowLayout {
        let columns = (0..<seed.below(90)).map { index in
            let kind = allKinds[seed.below(allKinds.count)]
            let narrow = [1, 2, 4, 8].filter { $0 <= kind.naturalWidth }
            return ColumnDescription(
                number: UInt32(index * 3 + 1),
                kind: kind,
                isOptional: kind != .link && kind != .toMany && seed.chance(2),
                width: kind.isInteger && seed.chance(3) ? narrow[seed.below(narrow.count)] : nil
            )
        }
        return RowLayout(number: UInt16(seed.below(1000)), entityName: "Random", columns: columns)
    }

    static func randomValue(_ column: Column, _ seed: inout RowSeed) -> SampleValue {
        if column.nilBit >= 0, seed.chance(3) { return .null }
        switch column.kind {
        case .toMany: return .nothing
        case .toOne: return .toOne(seed.chance(3) ? 0 : seed.next() & RowView.identifierMask)
        case .link: return .toOne(seed.chance(3) ? 0 : seed.next())
        case .attribute(let kind):
            switch kind {
            case .bool: return .bool(seed.chance(2))
            case .int8, .int16, .int32, .int64:
                let bits = Int64(64 - column.width * 8)
                return .int((seed.int64() << bits) >> bits)
            case .uint8, .uint16, .uint32, .uint64:
                let bits = UInt64(64 - column.width * 8)
                return .int(Int64(bitPattern: (UInt64(bitPattern: seed.int64()) << bits) >> bits))
            case .float: return .float(Float(seed.double()).bitPattern)
            case .double, .date: return .double(seed.double().bitPattern)
            case .uuid: return .uuid(seed.next(), seed.next())
            case .decimal:
                return .decimal(seed.next() >> UInt64(seed.below(64)), Int32(seed.below(256)) - 128, seed.chance(2))
            case .string, .url: return .text(Array(seed.text().utf8))
            case .data, .codable: return .bytes(seed.chance(20) ? seed.bytes(40_000) : seed.bytes(60))
            }
        }
    }

    static func set(_ value: SampleValue, slot: Int, in draft: inout Draft) {
        switch value {
        case .nothing: break
        case .null: draft.setNil(slot)
        case .bool(let value): draft.setBool(slot, value)
        case .int(let value): draft.setInt64(slot, value)
        case .float(let bits): draft.setFloat(slot, Float(bitPattern: bits))
        case .double(let bits): draft.setDouble(slot, Double(bitPattern: bits))
        case .uuid(let first, let second): draft.setUUID(slot, (first, second))
        case .decimal(let mantissa, let exponent, let isNegative):
            draft.setDecimal(
                slot,
                StoredDecimal(mantissa: UInt128(mantissa), exponent: exponent, isNegative: isNegative)
            )
        case .text(let bytes): draft.setString(slot, String(decoding: bytes, as: UTF8.self))
        case .bytes(let bytes): bytes.withUnsafeBytes { draft.setBytes(slot, $0) }
        case .toOne(let identifier): draft.setToOne(slot, identifier)
        }
    }

    /// Reads a slot back through the getters of a row.
    static func value(of row: RowView, slot: Int, kind: ColumnKind) -> SampleValue {
        if kind != .toOne, row.isNil(slot) { return .null }
        switch kind {
        case .toMany: return .nothing
        case .toOne: return .toOne(row.toOne(slot))
        case .link: return .toOne(row.uint64(slot))
        case .attribute(let attribute):
            switch attribute {
            case .bool: return .bool(row.bool(slot))
            case .float: return .float(row.float(slot).bitPattern)
            case .double, .date: return .double(row.double(slot).bitPattern)
            case .uuid: return .uuid(row.uuid(slot).0, row.uuid(slot).1)
            case .decimal:
                let value = row.decimal(slot)
                return .decimal(UInt64(truncatingIfNeeded: value.mantissa), value.exponent, value.isNegative)
            case .string, .url: return .text(Array(row.string(slot).utf8))
            case .data, .codable: return .bytes(Array(row.variable(slot)))
            default: return .int(row.int64(slot))
            }
        }
    }

    /// Reads a slot back through the getters of a draft.
    static func value(of draft: Draft, slot: Int, kind: ColumnKind) -> SampleValue {
        if kind != .toOne, draft.isNil(slot) { return .null }
        switch kind {
        case .toMany: return .nothing
        case .toOne: return .toOne(draft.toOne(slot))
        case .link: return .toOne(draft.uint64(slot))
        case .attribute(let attribute):
            switch attribute {
            case .bool: return .bool(draft.bool(slot))
            case .float: return .float(draft.float(slot).bitPattern)
            case .double, .date: return .double(draft.double(slot).bitPattern)
            case .uuid: return .uuid(draft.uuid(slot).0, draft.uuid(slot).1)
            case .decimal:
                let value = draft.decimal(slot)
                return .decimal(UInt64(truncatingIfNeeded: value.mantissa), value.exponent, value.isNegative)
            case .string, .url: return .text(Array(draft.string(slot).utf8))
            case .data, .codable: return .bytes(Array(draft.variable(slot)))
            default: return .int(draft.int64(slot))
            }
        }
    }

    /// Encodes a draft, with a guard byte behind it that must not change.
    static func encode(_ draft: Draft) -> [UInt8] {
        let byteCount = draft.encodedByteCount
        var bytes = [UInt8](repeating: 0xA5, count: byteCount + 1)
        let written = bytes.withUnsafeMutableBytes { room in
            room.baseAddress.map { draft.encode(into: $0) } ?? -1
        }
        precondition(written == byteCount && bytes[byteCount] == 0xA5, "The draft wrote as many bytes as it said.")
        bytes.removeLast()
        return bytes
    }

    /// A row of random values.
    static func randomRow(_ layout: RowLayout, _ seed: inout RowSeed) -> (values: [SampleValue], bytes: [UInt8]) {
        var draft = Draft.create(layout: layout)
        defer { draft.destroy() }
        let values = layout.columns.map { randomValue($0, &seed) }
        for (slot, value) in values.enumerated() { set(value, slot: slot, in: &draft) }
        return (values, encode(draft))
    }

    /// Views checked bytes.
    @discardableResult
    static func withRow<Result>(
        _ bytes: [UInt8],
        _ layout: RowLayout,
        hasExtension: Bool = false,
        _ body: (RowView?) throws -> Result
    ) rethrows -> Result {
        try bytes.withUnsafeBytes { try body(RowView(checking: $0, layout: layout, hasExtension: hasExtension)) }
    }
}
