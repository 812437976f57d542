internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore
internal import Foundation

/// Reads the value of a property from rows.
enum RowReading {
    /// Prepares the reading of a slot; nil if the object shows a value that the row does not have in this form.
    static func property<V>(
        _ type: V.Type, _ slot: Int, _ cursor: RowCursor, _ rows: RowScope
    ) -> CheckedExpression<V>? {
        guard case .attribute(let kind) = cursor.entity.layout.columns[slot].kind,
            AttributeKind(valueType: type) == kind
        else { return nil }
        guard let read = kind == .codable ? nested(type, slot, rows) : scalar(type, slot, rows) else {
            return nil
        }
        return CheckedExpression(0) { _ in try read.value(cursor.row) }
    }

    /// Code that reads a value from a row.
    ///
    /// A class, so that it can be cast.
    final class Reader<V> {
        let value: (RowView) throws -> V
        init(_ value: @escaping (RowView) throws -> V) { self.value = value }
    }

    fileprivate static func scalar<V>(_ type: V.Type, _ slot: Int, _ rows: RowScope) -> Reader<V>? {
        let made: AnyObject? =
            if let scalar = type as? any RowScalar.Type {
                reader(scalar, slot, rows)
            } else if let optional = type as? any OptionalOfRow.Type {
                optional.reader(slot, rows)
            } else if let raw = type as? any RawRepresentable.Type {
                rawReader(raw, slot, rows)
            } else {
                nil
            }
        return made as? Reader<V>
    }

    private static func reader<S: RowScalar>(_ type: S.Type, _ slot: Int, _ rows: RowScope) -> AnyObject? {
        Reader<S> { try S.read($0, slot, rows) }
    }

    private static func rawReader<R: RawRepresentable>(
        _ type: R.Type, _ slot: Int, _ rows: RowScope
    ) -> AnyObject? {
        guard let raw = scalar(R.RawValue.self, slot, rows) else { return nil }
        return Reader<R> {
            guard let value = R(rawValue: try raw.value($0)) else { throw RowCannotTell() }
            return value
        }
    }

    /// The decoder is the user's code, which may read other rows: it gets a copy of the bytes.
    private static func nested<V>(_ type: V.Type, _ slot: Int, _ rows: RowScope) -> Reader<V>? {
        guard let decodable = type as? any Decodable.Type else { return nil }
        func open<D: Decodable>(_ type: D.Type) -> AnyObject? {
            let none = (type as? any OptionalNil.Type)?.makeNil() as? D
            return Reader<D> { row in
                if let none, row.isNil(slot) { return none }
                let bytes = try row.bytes(slot, rows)
                do {
                    return try bytes.withUnsafeBytes {
                        try NestedDecoder.decode(D.self, from: $0, scalars: FoundationScalars())
                    }
                } catch { throw RowCannotTell() }
            }
        }
        return open(decodable) as? Reader<V>
    }
}

/// An optional type whose value a row has, or nil.
private protocol OptionalOfRow {
    static func reader(_ slot: Int, _ rows: RowScope) -> AnyObject?
}

extension Optional: OptionalOfRow {
    fileprivate static func reader(_ slot: Int, _ rows: RowScope) -> AnyObject? {
        guard let wrapped = RowReading.scalar(Wrapped.self, slot, rows) else { return nil }
        return RowReading.Reader<Wrapped?> { $0.isNil(slot) ? nil : try wrapped.value($0) }
    }
}

extension RowView {
    /// A copy of the bytes of a variable value, in the row or outside.
    fileprivate func bytes(_ slot: Int, _ rows: RowScope) throws -> [UInt8] {
        guard let reference = blobReference(slot) else { return [UInt8](variable(slot)) }
        return try RowCache(rows.context).blobBytes(reference, rows.snapshot)
    }
}

/// A type whose values rows hold unchanged.
private protocol RowScalar {
    static func read(_ row: RowView, _ slot: Int, _ rows: RowScope) throws -> Self
}

extension RowScalar where Self: StoredInteger {
    fileprivate static func read(_ row: RowView, _ slot: Int, _ rows: RowScope) throws -> Self {
        Self(truncatingIfNeeded: row.int64(slot))
    }
}

extension Int: RowScalar {}
extension Int8: RowScalar {}
extension Int16: RowScalar {}
extension Int32: RowScalar {}
extension Int64: RowScalar {}
extension UInt: RowScalar {}
extension UInt8: RowScalar {}
extension UInt16: RowScalar {}
extension UInt32: RowScalar {}
extension UInt64: RowScalar {}

extension Bool: RowScalar {
    fileprivate static func read(_ row: RowView, _ slot: Int, _ rows: RowScope) throws -> Bool { row.bool(slot) }
}

extension Double: RowScalar {
    fileprivate static func read(_ row: RowView, _ slot: Int, _ rows: RowScope) throws -> Double {
        row.double(slot)
    }
}

extension Float: RowScalar {
    fileprivate static func read(_ row: RowView, _ slot: Int, _ rows: RowScope) throws -> Float {
        row.float(slot)
    }
}

extension Date: RowScalar {
    fileprivate static func read(_ row: RowView, _ slot: Int, _ rows: RowScope) throws -> Date {
        Date(timeIntervalSinceReferenceDate: row.date(slot))
    }
}

extension UUID: RowScalar {
    fileprivate static func read(_ row: RowView, _ slot: Int, _ rows: RowScope) throws -> UUID {
        UUID(storedWords: row.uuid(slot))
    }
}

extension Decimal: RowScalar {
    fileprivate static func read(_ row: RowView, _ slot: Int, _ rows: RowScope) throws -> Decimal {
        Decimal(row.decimal(slot))
    }
}

extension String: RowScalar {
    fileprivate static func read(_ row: RowView, _ slot: Int, _ rows: RowScope) throws -> String {
        guard row.blobReference(slot) != nil else { return row.string(slot) }
        return String(decoding: try row.bytes(slot, rows), as: UTF8.self)
    }
}

extension URL: RowScalar {
    fileprivate static func read(_ row: RowView, _ slot: Int, _ rows: RowScope) throws -> URL {
        guard let url = URL(string: try String.read(row, slot, rows)) else { throw RowCannotTell() }
        return url
    }
}

extension Data: RowScalar {
    fileprivate static func read(_ row: RowView, _ slot: Int, _ rows: RowScope) throws -> Data {
        Data(try row.bytes(slot, rows))
    }
}
