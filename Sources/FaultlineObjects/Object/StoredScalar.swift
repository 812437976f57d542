public import Foundation
package import FaultlineStore

/// A type whose values are stored in a row unchanged: the types of attributes.
///
/// The requirements belong to the library: they read and write one slot without boxing the value.
public protocol StoredScalar {
    /// Reads slot `slot` of a core.
    static func _$read(_ core: inout ModelCore, _ slot: Int) -> Self
    /// Writes slot `slot` of a core, which was prepared for it.
    static func _$write(_ value: Self, _ core: inout ModelCore, _ slot: Int)
    /// The placeholder that a getter returns if nothing can be read and the property declares no default.
    static var _$standIn: Self { get }
}

extension ModelCore {
    /// Calls one of two readers, on the draft or on the loaded row; nil if there is neither.
    @inline(__always)
    mutating func read<V>(_ fromDraft: (Draft) -> V, _ fromRow: (RowView) -> V) -> V? {
        if let draftPointer { return fromDraft(Draft(block: draftPointer)) }
        if let row = loadedRow() { return fromRow(row) }
        return readCanonical(fromDraft, fromRow)
    }

    @inline(never)
    private func readCanonical<V>(_ fromDraft: (Draft) -> V, _ fromRow: (RowView) -> V) -> V? {
        guard let core = canonicalCore else { return nil }
        if let draftPointer = core.pointee.draftPointer { return fromDraft(Draft(block: draftPointer)) }
        return core.pointee.loadedRow().map(fromRow)
    }

    /// Calls a writer on the draft.
    @inline(__always)
    mutating func write(_ body: (inout Draft) -> Void) {
        guard let draftPointer else { return writeCanonical(body) }
        var draft = Draft(block: draftPointer)
        body(&draft)
        self.draftPointer = draft.block
    }

    @inline(never)
    private func writeCanonical(_ body: (inout Draft) -> Void) {
        guard let core = canonicalCore, let draftPointer = core.pointee.draftPointer else { return }
        var draft = Draft(block: draftPointer)
        body(&draft)
        core.pointee.draftPointer = draft.block
    }
}

extension Bool: StoredScalar {
    /// Reads one byte; false if it cannot be read.
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> Bool {
        core.noteRead(slot)
        return core.read({ $0.bool(slot) }, { $0.bool(slot) }) ?? false
    }
    /// Writes one byte: 1 or 0.
    public static func _$write(_ value: Bool, _ core: inout ModelCore, _ slot: Int) {
        core.write { $0.setBool(slot, value) }
    }
    /// False.
    public static var _$standIn: Bool { false }
}

/// Integers: stored in eight bytes or fewer, by the attribute's kind.
public protocol StoredInteger: StoredScalar, FixedWidthInteger {}

extension StoredInteger {
    /// Reads an integer in the bits of the type; 0 if it cannot be read.
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> Self {
        Self(truncatingIfNeeded: core.readInteger(slot))
    }
    /// Writes the bits of an integer, so that a `UInt64` above `Int64.max` is read back unchanged.
    public static func _$write(_ value: Self, _ core: inout ModelCore, _ slot: Int) {
        core.write { $0.setInt64(slot, Int64(truncatingIfNeeded: value)) }
    }
    /// Zero.
    public static var _$standIn: Self { 0 }
}

extension ModelCore {
    mutating func readInteger(_ slot: Int) -> Int64 {
        noteRead(slot)
        return read({ $0.int64(slot) }, { $0.int64(slot) }) ?? 0
    }
}

extension Int: StoredInteger {
    /// Reads an integer as all integers do; repeated here so that no generic code runs.
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
    /// Reads eight bytes, IEEE 754; 0 if they cannot be read.
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> Double {
        core.noteRead(slot)
        return core.read({ $0.double(slot) }, { $0.double(slot) }) ?? 0
    }
    /// Writes eight bytes, IEEE 754.
    public static func _$write(_ value: Double, _ core: inout ModelCore, _ slot: Int) {
        core.write { $0.setDouble(slot, value) }
    }
    /// Zero.
    public static var _$standIn: Double { 0 }
}

extension Float: StoredScalar {
    /// Reads four bytes, IEEE 754; 0 if they cannot be read.
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> Float {
        core.noteRead(slot)
        return core.read({ $0.float(slot) }, { $0.float(slot) }) ?? 0
    }
    /// Writes four bytes, IEEE 754.
    public static func _$write(_ value: Float, _ core: inout ModelCore, _ slot: Int) {
        core.write { $0.setFloat(slot, value) }
    }
    /// Zero.
    public static var _$standIn: Float { 0 }
}

extension Date: StoredScalar {
    /// Reads seconds since 1 January 2001 UTC; that moment if they cannot be read.
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: Double._$read(&core, slot))
    }
    /// Writes seconds since 1 January 2001 UTC, with the precision of `Date`.
    public static func _$write(_ value: Date, _ core: inout ModelCore, _ slot: Int) {
        core.write { $0.setDate(slot, value.timeIntervalSinceReferenceDate) }
    }
    /// 1 January 2001 UTC.
    public static var _$standIn: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

extension UUID: StoredScalar {
    /// Reads 16 bytes; zeros if they cannot be read.
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> UUID {
        core.noteRead(slot)
        guard let words = core.read({ $0.uuid(slot) }, { $0.uuid(slot) }) else { return _$standIn }
        return UUID(storedWords: words)
    }
    /// Writes the 16 bytes.
    public static func _$write(_ value: UUID, _ core: inout ModelCore, _ slot: Int) {
        let words = value.storedWords
        core.write { $0.setUUID(slot, words) }
    }
    /// Sixteen zero bytes.
    public static var _$standIn: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}

extension Decimal: StoredScalar {
    /// Reads mantissa, exponent and sign; 0 if they cannot be read.
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> Decimal {
        core.noteRead(slot)
        guard let stored = core.read({ $0.decimal(slot) }, { $0.decimal(slot) }) else { return 0 }
        return Decimal(stored)
    }
    /// Writes mantissa, exponent and sign, so that no digit is lost.
    public static func _$write(_ value: Decimal, _ core: inout ModelCore, _ slot: Int) {
        let stored = value.stored
        core.write { $0.setDecimal(slot, stored) }
    }
    /// Zero.
    public static var _$standIn: Decimal { 0 }

    /// The value in the form of a row.
    ///
    /// The digits are read as text: Foundation does not expose its mantissa.
    package var stored: StoredDecimal {
        if isNaN { return .notANumber }
        let digits = significand.description
        guard let mantissa = UInt128(digits.hasPrefix("-") ? String(digits.dropFirst()) : digits) else {
            return .notANumber
        }
        return StoredDecimal(mantissa: mantissa, exponent: Int32(exponent), isNegative: sign == .minus)
    }

    /// The value of a row's decimal.
    package init(_ stored: StoredDecimal) {
        guard !stored.isNaN, let significand = Decimal(string: stored.mantissa.description) else {
            self = .nan
            return
        }
        self.init(sign: stored.isNegative ? .minus : .plus, exponent: Int(stored.exponent), significand: significand)
    }
}

extension String: StoredScalar {
    /// Reads UTF-8, in the row or outside; the empty string if it cannot be read.
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> String {
        core.noteRead(slot)
        return core.withBytes(of: slot) { String(decoding: $0, as: UTF8.self) } ?? ""
    }
    /// Writes UTF-8; a save may store long text outside the row.
    public static func _$write(_ value: String, _ core: inout ModelCore, _ slot: Int) {
        core.write { $0.setString(slot, value) }
        if value.utf8.count >= UnsavedBytes.longByteCountMin { core.noteLongText(slot) }
    }
    /// The empty string.
    public static var _$standIn: String { "" }
}

extension URL: StoredScalar {
    /// Reads the URL's text; the declared default or the placeholder if it is no URL, or cannot be read.
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> URL {
        if let url = core.url(of: slot) { return url }
        return core.home._withUnsafeGuaranteedRef { $0.type?.defaultValue(of: slot) } as? URL ?? _$standIn
    }
    /// Writes the absolute text: a URL relative to a base is read back without the base.
    public static func _$write(_ value: URL, _ core: inout ModelCore, _ slot: Int) {
        core.write { $0.setString(slot, value.absoluteString) }
    }
    /// The URL of the root directory.
    public static var _$standIn: URL { URL(filePath: "/") }
}

extension ModelCore {
    /// Reads an optional URL; nil also if the stored text is no URL, which is reported to the context.
    public mutating func value(_ slot: Int) -> URL? { _$isNil(slot) ? nil : url(of: slot) }
}

extension Data: StoredScalar {
    /// Reads the bytes, in the row or outside; empty if they cannot be read.
    public static func _$read(_ core: inout ModelCore, _ slot: Int) -> Data {
        core.noteRead(slot)
        return core.data(of: slot) ?? Data()
    }
    /// Writes the bytes; a save may store many of them outside the row.
    public static func _$write(_ value: Data, _ core: inout ModelCore, _ slot: Int) {
        if ReadValues.isInUse, core.refer(toReadValue: value, slot) { return }
        if value.count >= UnsavedBytes.longByteCountMin, value.withUnsafeBytes({ core.spill($0, slot) }) { return }
        core.write { draft in value.withUnsafeBytes { draft.setBytes(slot, $0) } }
    }
    /// No bytes.
    public static var _$standIn: Data { Data() }
}
