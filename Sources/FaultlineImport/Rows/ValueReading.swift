#if Import
internal import FaultlineCoreData
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore
internal import Foundation

/// A value of a column in the form of its attribute; bytes belong to the query.
enum ReadValue {
    case none
    case bool(Bool)
    case integer(Int64)
    case float(Float)
    /// Also a date: seconds since 1 January 2001.
    case double(Double)
    case uuid(UInt64, UInt64)
    case decimal(StoredDecimal)
    case text(UnsafeRawBufferPointer)
    case bytes(UnsafeRawBufferPointer)
}

/// The reason why a column's value is none of its attribute.
struct Misfit: Error {
    let reason: ImportFinding.Reason

    init(_ reason: ImportFinding.Reason) { self.reason = reason }
}

/// Reads columns as Core Data writes attributes.
enum ValueReading {
    /// The value of a column as one of a kind.
    ///
    /// - Throws: `Misfit` if it is none of the kind.
    @inline(__always)
    static func read(_ value: SQLiteValue, as kind: AttributeKind) throws(Misfit) -> ReadValue {
        if case .null = value { return .none }
        switch kind {
        case .string:
            guard case .text(let bytes) = value else { throw Misfit(.wrongType) }
            guard isUTF8(bytes) else { throw Misfit(.invalidText) }
            return .text(bytes)
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64:
            guard case .integer(let number) = value else { throw Misfit(.wrongType) }
            guard holds(number, kind) else { throw Misfit(.outOfRange) }
            return .integer(number)
        case .bool:
            guard case .integer(let number) = value else { throw Misfit(.wrongType) }
            guard number == 0 || number == 1 else { throw Misfit(.outOfRange) }
            return .bool(number == 1)
        case .double, .date: return .double(try double(value))
        case .data:
            guard case .blob(let bytes) = value else { throw Misfit(.wrongType) }
            return .bytes(bytes)
        case .float, .uuid, .decimal, .url, .codable: return try readRare(value, as: kind)
        }
    }

    private static func readRare(_ value: SQLiteValue, as kind: AttributeKind) throws(Misfit) -> ReadValue {
        switch kind {
        case .float:
            let wide = try double(value)
            let nearest = Float(wide)
            guard nearest.isFinite || !wide.isFinite else { throw Misfit(.outOfRange) }
            return .float(nearest)
        case .uuid:
            switch value {
            case .blob(let bytes):
                guard bytes.count == 16 else { throw Misfit(.wrongType) }
                return .uuid(
                    UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)),
                    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
            case .text(let bytes):
                guard let uuid = UUID(uuidString: String(decoding: bytes, as: UTF8.self)) else {
                    throw Misfit(.wrongType)
                }
                return .uuid(uuid.storedWords.0, uuid.storedWords.1)
            default: throw Misfit(.wrongType)
            }
        case .decimal: return .decimal(try decimal(value).stored)
        case .url:
            guard case .text(let bytes) = value else { throw Misfit(.wrongType) }
            guard isUTF8(bytes) else { throw Misfit(.invalidText) }
            guard URL(string: String(decoding: bytes, as: UTF8.self)) != nil else { throw Misfit(.invalidURL) }
            return .text(bytes)
        default:
            // A value of a type that no column of Core Data's has.
            throw Misfit(.wrongType)
        }
    }

    @inline(__always)
    private static func double(_ value: SQLiteValue) throws(Misfit) -> Double {
        switch value {
        case .real(let number): return number
        case .integer(let number):
            guard let exact = Double(exactly: number) else { throw Misfit(.outOfRange) }
            return exact
        default: throw Misfit(.wrongType)
        }
    }

    /// A decimal: SQLite keeps one as an integer, a number of 15 digits, or a text.
    private static func decimal(_ value: SQLiteValue) throws(Misfit) -> Decimal {
        let text: String
        switch value {
        case .integer(let number): return Decimal(number)
        case .real(let number):
            guard number.isFinite else { throw Misfit(.outOfRange) }
            text = number.description
        case .text(let bytes): text = String(decoding: bytes, as: UTF8.self)
        default: throw Misfit(.wrongType)
        }
        do throws(DecimalText.Failure) { return try DecimalText.decimal(text) } catch {
            throw Misfit(error == .malformed ? .wrongType : .outOfRange)
        }
    }

    @inline(__always)
    private static func holds(_ number: Int64, _ kind: AttributeKind) -> Bool {
        switch kind {
        case .int8: Int8(exactly: number) != nil
        case .int16: Int16(exactly: number) != nil
        case .int32: Int32(exactly: number) != nil
        case .uint8: UInt8(exactly: number) != nil
        case .uint16: UInt16(exactly: number) != nil
        case .uint32: UInt32(exactly: number) != nil
        case .uint64: number >= 0
        default: true
        }
    }

    @inline(__always)
    private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        var all: UInt8 = 0
        while index < bytes.count {
            all |= bytes[index]
            index += 1
        }
        return all < 0x80 || String(validating: bytes, as: UTF8.self) != nil
    }
}

extension Draft {
    /// Sets a slot of the value's kind; nothing for no value.
    @inline(__always)
    mutating func set(_ value: ReadValue, _ slot: Int) {
        switch value {
        case .none: break
        case .bool(let value): setBool(slot, value)
        case .integer(let value): setInt64(slot, value)
        case .float(let value): setFloat(slot, value)
        case .double(let value): setDouble(slot, value)
        case .uuid(let first, let second): setUUID(slot, (first, second))
        case .decimal(let value): setDecimal(slot, value)
        case .text(let bytes): setUTF8(slot, bytes)
        case .bytes(let bytes): setBytes(slot, bytes)
        }
    }
}

/// A value of a composite attribute, encoded as a `Codable` structure with the same members is.
indirect enum CompositeValue: Encodable {
    case members([(name: String, value: CompositeValue)])
    case bool(Bool)
    case integer(Int64)
    case float(Float)
    case double(Double)
    case date(Date)
    case uuid(UUID)
    case decimal(Decimal)
    case text(String)
    case data(Data)

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// A value that was read; nil for none.
    init?(_ value: ReadValue, _ kind: AttributeKind) {
        switch value {
        case .none: return nil
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .float(let value): self = .float(value)
        case .double(let value):
            self = kind == .date ? .date(Date(timeIntervalSinceReferenceDate: value)) : .double(value)
        case .uuid(let first, let second): self = .uuid(UUID(storedWords: (first, second)))
        case .decimal(let value): self = .decimal(Decimal(value))
        case .text(let bytes): self = .text(String(decoding: bytes, as: UTF8.self))
        case .bytes(let bytes): self = .data(Data(bytes))
        }
    }

    /// The value that stands for a missing one of a required attribute: its default, or zero; nil for a URL.
    init?(insteadOf attribute: Schema.Attribute) {
        if let composite = attribute as? Schema.CompositeAttribute {
            self = .members(
                composite.properties.filter { !$0.isOptional }.compactMap { part in
                    Self(insteadOf: part).map { (part.name, $0) }
                })
        } else if let value = attribute.defaultValue, let known = Self(default: value) {
            self = known
        } else if let zero = Self(zeroOf: attribute.kind) {
            self = zero
        } else {
            return nil
        }
    }

    private init?(default value: Any) {
        switch value {
        case let value as Bool: self = .bool(value)
        case let value as any BinaryInteger:
            guard let number = Int64(exactly: value) else { return nil }
            self = .integer(number)
        case let value as Float: self = .float(value)
        case let value as Double: self = .double(value)
        case let value as Date: self = .date(value)
        case let value as UUID: self = .uuid(value)
        case let value as Decimal: self = .decimal(value)
        case let value as String: self = .text(value)
        case let value as URL: self = .text(value.absoluteString)
        case let value as Data: self = .data(value)
        default: return nil
        }
    }

    private init?(zeroOf kind: AttributeKind) {
        switch kind {
        case .bool: self = .bool(false)
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: self = .integer(0)
        case .float: self = .float(0)
        case .double: self = .double(0)
        case .date: self = .date(Date(timeIntervalSinceReferenceDate: 0))
        case .uuid: self = .uuid(UUID(storedWords: (0, 0)))
        case .decimal: self = .decimal(0)
        case .string: self = .text("")
        case .data: self = .data(Data())
        case .url, .codable: return nil
        }
    }

    func encode(to encoder: any Encoder) throws {
        if case .members(let members) = self {
            var container = encoder.container(keyedBy: Key.self)
            for member in members { try container.encode(member.value, forKey: Key(stringValue: member.name)) }
            return
        }
        var container = encoder.singleValueContainer()
        switch self {
        case .members: break
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .float(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .uuid(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        }
    }
}
#endif
