internal import Foundation

/// An object of a keyed archive, or one of its values.
struct ArchivedObject {
    let archive: KeyedArchive
    /// The identity of the object in its archive.
    let position: Int

    private var fields: [String: Int]? {
        guard case .dictionary(let fields) = archive.value(at: position), archive.budget.take(1) else { return nil }
        return fields
    }

    /// The names of its fields, sorted, without that of its class.
    var keys: [String] { (fields ?? [:]).keys.filter { $0 != "$class" }.sorted() }

    /// The value of a field; nil if there is none, and for null.
    subscript(key: String) -> ArchivedObject? { fields?[key].flatMap(archive.object) }

    // MARK: The class

    /// The name of its class; nil for plain values.
    var className: String? { fields?["$class"].flatMap(archive.object)?["$classname"]?.plainText }

    /// Whether it is of a class, or of a subclass of it.
    func isKind(of name: String) -> Bool {
        guard let type = fields?["$class"].flatMap(archive.object), let names = type["$classes"] else { return false }
        return names.members.contains { $0?.plainText == name }
    }

    // MARK: Values

    /// The members of a list that is no object; nil stands for null.
    private var members: [ArchivedObject?] {
        guard case .list(let positions) = archive.value(at: position), archive.budget.take(positions.count) else {
            return []
        }
        return positions.map(archive.object)
    }

    /// The members of an array or a set, without null; nil for everything else.
    var list: [ArchivedObject]? {
        fields?["NS.keys"] == nil ? self["NS.objects"]?.members.compactMap { $0 } : nil
    }

    /// The keys and values of a dictionary, in the order of the archive; nil for everything else.
    var dictionary: [(key: String, value: ArchivedObject)]? {
        if let keys = self["NS.keys"], let values = self["NS.objects"] {
            return Self.pairs(keys.members, values.members)
        }
        // A dictionary with fixed keys.
        guard let keys = self["searchMapping"]?["keys"]?["NS.objects"], let values = self["values"]?["NS.objects"]
        else { return nil }
        return Self.pairs(keys.members, values.members)
    }

    private static func pairs(
        _ keys: [ArchivedObject?], _ values: [ArchivedObject?]
    ) -> [(key: String, value: ArchivedObject)] {
        zip(keys, values).compactMap { key, value in
            guard let text = key?.text, let value else { return nil }
            return (text, value)
        }
    }

    var text: String? { plainText ?? self["NS.string"]?.plainText }

    /// A text that is no object.
    private var plainText: String? {
        guard case .text(let text) = archive.value(at: position), archive.budget.take(text.utf8.count / 16) else {
            return nil
        }
        return text
    }

    /// A whole number, or a flag as 0 or 1.
    var integer: Int? {
        switch archive.value(at: position) {
        case .integer(let value): Int(value)
        case .flag(let value): value ? 1 : 0
        default: nil
        }
    }

    var number: Double? {
        switch archive.value(at: position) {
        case .number(let value): value
        case .integer(let value): Double(value)
        case .flag(let value): value ? 1 : 0
        default: nil
        }
    }

    var isFlag: Bool { if case .flag = archive.value(at: position) { true } else { false } }

    var data: Data? { plainData ?? self["NS.data"]?.plainData }

    private var plainData: Data? {
        if case .data(let value) = archive.value(at: position) { value } else { nil }
    }

    var date: Date? {
        switch archive.value(at: position) {
        case .date(let value): value
        case .dictionary: self["NS.time"]?.number.map(Date.init(timeIntervalSinceReferenceDate:))
        default: nil
        }
    }

    var uuid: UUID? {
        guard let bytes = self["NS.uuidbytes"]?.data, bytes.count == 16 else { return nil }
        return [UInt8](bytes).withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    var url: URL? {
        guard let relative = self["NS.relative"]?.plainText else { return nil }
        let base = self["NS.base"]?["NS.relative"]?.plainText.flatMap { URL(string: $0) }
        return URL(string: relative, relativeTo: base)?.absoluteURL
    }

    /// A decimal number: up to eight digits of 16 bits, a power of ten, and a sign.
    var decimal: Decimal? {
        guard let digits = self["NS.mantissa"]?.data, digits.count <= 16, digits.count.isMultiple(of: 2),
            let exponent = self["NS.exponent"]?.integer, (-128...127).contains(exponent)
        else { return integer.map { Decimal($0) } }
        let bytes = [UInt8](digits)
        let isBigEndian = self["NS.mantissa.bo"]?.integer == 2
        let high = isBigEndian ? 0 : 1
        let words: [UInt16] = stride(from: 0, to: bytes.count, by: 2).map { at in
            UInt16(bytes[at + high]) << 8 | UInt16(bytes[at + 1 - high])
        }
        let length = min(max(self["NS.length"]?.integer ?? words.count, 0), words.count)
        let isNegative = (self["NS.negative"]?.integer ?? 0) != 0
        // No digits and a sign stand for no number.
        guard length > 0 else { return isNegative ? nil : 0 }
        let mantissa = words[..<length].reversed().reduce(Decimal(0)) { $0 * 65_536 + Decimal(Int($1)) }
        return Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: mantissa)
    }
}
