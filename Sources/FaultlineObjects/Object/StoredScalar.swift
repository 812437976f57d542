public import Foundation
package import FaultlineStore

/// A type whose values lie in a row as they are: what attributes are made of.
///
/// The requirements belong to the library: they read and write one slot without making a box of the value.
public protocol StoredScalar {
    /// Reads slot `slot` of a core.
    static func _$read(_ core: inout ModelCore, _ slot: Int) -> Self
    /// Writes slot `slot` of a core, which has been made ready.
    static func _$write(_ value: Self, _ core: inout ModelCore, _ slot: Int)
    /// What a getter gives where nothing can be read and the property declares no default.
    static var _$standIn: Self { get }
}

extension ModelCore {
    /// Runs one of two readers, on the draft or on the loaded row; nil if neither is there.
    @inline(__always)
    mutating func read<V>(_ fromDraft: (Draft) -> V, _ fromRow: (RowView) -> V) -> V? {
        if let draftPointer { return fromDraft(Draft(block: draftPointer)) }
        if let row = loadedRow() { return fromRow(row) }
        return nil
    }

    /// Runs a writer on the draft.
    @inline(__always)
    mutating func write(_ body: (inout Draft) -> Void) {
        guard let draftPointer else { return }
        var draft = Draft(block: draftPointer)
        body(&draft)
        self.draftPointer = draft.block
    }
}

extension Bool: StoredScalar {
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> Bool {
        core.read({ $0.bool(slot) }, { $0.bool(slot) }) ?? false
    }
    public static func _$write(_ value: Bool, _ core: inout ModelCore, _ slot: Int) {
        core.write { $0.setBool(slot, value) }
    }
    public static var _$standIn: Bool { false }
}

/// Integers: stored in eight bytes or fewer, by the attribute's kind.
public protocol StoredInteger: StoredScalar, FixedWidthInteger {}

extension StoredInteger {
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> Self {
        Self(truncatingIfNeeded: core.readInteger(slot))
    }
    public static func _$write(_ value: Self, _ core: inout ModelCore, _ slot: Int) {
        core.write { $0.setInt64(slot, Int64(truncatingIfNeeded: value)) }
    }
    public static var _$standIn: Self { 0 }
}

extension ModelCore {
    mutating func readInteger(_ slot: Int) -> Int64 {
        read({ $0.int64(slot) }, { $0.int64(slot) }) ?? 0
    }
}

extension Int: StoredInteger {
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> Int {
        Int(truncatingIfNeeded: core.readInteger(slot))
    }
}
extension Int8: StoredInteger {}
extension Int16: StoredInteger {}
extension Int32: StoredInteger {}
extension Int64: StoredInteger {}
extension UInt: StoredInteger {}
extension UInt8: StoredInteger {}
extension UInt16: StoredInteger {}
extension UInt32: StoredInteger {}
extension UInt64: StoredInteger {}

extension Double: StoredScalar {
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> Double {
        core.read({ $0.double(slot) }, { $0.double(slot) }) ?? 0
    }
    public static func _$write(_ value: Double, _ core: inout ModelCore, _ slot: Int) {
        core.write { $0.setDouble(slot, value) }
    }
    public static var _$standIn: Double { 0 }
}

extension Float: StoredScalar {
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> Float {
        core.read({ $0.float(slot) }, { $0.float(slot) }) ?? 0
    }
    public static func _$write(_ value: Float, _ core: inout ModelCore, _ slot: Int) {
        core.write { $0.setFloat(slot, value) }
    }
    public static var _$standIn: Float { 0 }
}

extension Date: StoredScalar {
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: Double._$read(&core, slot))
    }
    public static func _$write(_ value: Date, _ core: inout ModelCore, _ slot: Int) {
        core.write { $0.setDate(slot, value.timeIntervalSinceReferenceDate) }
    }
    public static var _$standIn: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

extension UUID: StoredScalar {
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> UUID {
        guard let words = core.read({ $0.uuid(slot) }, { $0.uuid(slot) }) else { return _$standIn }
        return UUID(storedWords: words)
    }
    public static func _$write(_ value: UUID, _ core: inout ModelCore, _ slot: Int) {
        let words = value.storedWords
        core.write { $0.setUUID(slot, words) }
    }
    public static var _$standIn: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }

    /// The identifier of 16 bytes given as two little-endian words.
    package init(storedWords words: (UInt64, UInt64)) {
        self = withUnsafeBytes(of: (words.0.littleEndian, words.1.littleEndian)) {
            UUID(uuid: $0.loadUnaligned(as: uuid_t.self))
        }
    }

    /// The 16 bytes as two little-endian words.
    package var storedWords: (UInt64, UInt64) {
        withUnsafeBytes(of: uuid) {
            (
                UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}

extension Decimal: StoredScalar {
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> Decimal {
        guard let stored = core.read({ $0.decimal(slot) }, { $0.decimal(slot) }) else { return 0 }
        return Decimal(stored)
    }
    public static func _$write(_ value: Decimal, _ core: inout ModelCore, _ slot: Int) {
        let stored = value.stored
        core.write { $0.setDecimal(slot, stored) }
    }
    public static var _$standIn: Decimal { 0 }

    /// The value in the form of a row. The digits are taken as text: Foundation does not show its mantissa.
    package var stored: StoredDecimal {
        if isNaN { return .notANumber }
        let digits = significand.description
        guard let mantissa = UInt128(digits.hasPrefix("-") ? String(digits.dropFirst()) : digits) else {
            return .notANumber
        }
        return StoredDecimal(mantissa: mantissa, exponent: Int32(exponent), isNegative: sign == .minus)
    }

    /// The value that a row holds.
    package init(_ stored: StoredDecimal) {
        guard !stored.isNaN, let significand = Decimal(string: stored.mantissa.description) else {
            self = .nan
            return
        }
        self.init(sign: stored.isNegative ? .minus : .plus, exponent: Int(stored.exponent), significand: significand)
    }
}

extension String: StoredScalar {
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> String {
        core.withBytes(of: slot) { String(decoding: $0, as: UTF8.self) } ?? ""
    }
    public static func _$write(_ value: String, _ core: inout ModelCore, _ slot: Int) {
        core.write { $0.setString(slot, value) }
    }
    public static var _$standIn: String { "" }
}

extension URL: StoredScalar {
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> URL {
        core.withBytes(of: slot) { URL(string: String(decoding: $0, as: UTF8.self)) }.flatMap { $0 } ?? _$standIn
    }
    public static func _$write(_ value: URL, _ core: inout ModelCore, _ slot: Int) {
        core.write { $0.setString(slot, value.absoluteString) }
    }
    public static var _$standIn: URL { URL(filePath: "/") }
}

extension Data: StoredScalar {
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> Data {
        core.data(of: slot) ?? Data()
    }
    public static func _$write(_ value: Data, _ core: inout ModelCore, _ slot: Int) {
        core.write { draft in value.withUnsafeBytes { draft.setBytes(slot, $0) } }
    }
    public static var _$standIn: Data { Data() }
}
