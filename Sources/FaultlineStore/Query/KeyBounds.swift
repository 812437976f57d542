internal import FaultlineModel

/// What conditions say of one attribute, in keys.
///
/// Conditions whose constants have no key in the attribute's kind are left for the rows. So are comparisons of decimals:
/// their not-a-number is below all numbers in a filter, and above them in an index.
struct KeyBounds {
    /// The key that the attribute must have.
    private(set) var equal: [UInt8]?
    /// Conditions that say so.
    private(set) var equalCount = 0
    /// Conditions that the ranges stand for.
    private(set) var narrowingCount = 0
    /// Whether the ranges have no other values than the conditions allow.
    private(set) var isExact = true
    private let kind: ColumnKind
    private var members: [[UInt8]]?
    /// The greatest lower bound, and the least upper one: keys, as the end of what is left out and of what is wanted.
    private var first: [UInt8]?
    private var end: [UInt8]?

    init(_ conditions: [RowFilter], _ slot: Int, _ kind: ColumnKind) {
        self.kind = kind
        for condition in conditions {
            switch condition {
            case .compare(slot, .equal, let value): takeEqual(Self.key(value, kind))
            case .isNil(slot): takeEqual(Self.key(.null, kind))
            case .compare(slot, let comparison, let value): take(comparison, value)
            case .isMember(slot, let values): take(values)
            case .beginsWith(slot, let text): take(beginning: text)
            default: break
            }
        }
    }

    /// The ranges that the conditions leave behind a prefix; nil if they leave all.
    func ranges(behind prefix: [UInt8]) -> [IndexSelection.KeyRange]? {
        if let members { return members.map { IndexSelection.KeyRange(prefix: prefix + $0) } }
        guard first != nil || end != nil else { return nil }
        return [
            IndexSelection.KeyRange(
                prefix: prefix, first: prefix + (first ?? [1]), end: prefix + (end ?? greatest))
        ]
    }

    /// The first key behind those of values that a comparison can find: not-a-number is none.
    private var greatest: [UInt8] {
        switch kind {
        case .attribute(.double), .attribute(.date): [1] + [UInt8](repeating: .max, count: 8)
        case .attribute(.float): [1] + [UInt8](repeating: .max, count: 4)
        default: [2]
        }
    }

    private mutating func takeEqual(_ key: [UInt8]?) {
        guard let key, equal == nil || equal == key else { return }
        equal = key
        equalCount += 1
    }

    private mutating func take(_ comparison: RowComparison, _ value: RowValue) {
        guard kind.isComparedByKeys, value != .null, let key = Self.key(value, kind) else { return }
        let next = IndexSelection.KeyRange.successor(of: key)
        switch comparison {
        case .less: lower(end: key)
        case .lessOrEqual: lower(end: next)
        case .greater: raise(first: next)
        case .greaterOrEqual: raise(first: key)
        case .equal, .notEqual: return
        }
        // What a list says already needs no range, and stays for the rows.
        narrowingCount += 1
        if members != nil { isExact = false }
    }

    private mutating func take(_ values: [RowValue]) {
        let keys = values.compactMap { Self.key($0, kind) }
        guard members == nil, keys.count == values.count else { return }
        members = Set(keys).sorted { $0.lexicographicallyPrecedes($1) }
        if narrowingCount > 0 { isExact = false }
        narrowingCount += 1
    }

    private mutating func take(beginning text: String) {
        guard kind == .attribute(.string) else { return }
        // What follows a letter may become one with it, so only ASCII in front of ASCII is a beginning for sure.
        let ascii = Array(text.utf8.prefix { $0 < 0x80 })
        let sure = ascii.count == text.utf8.count ? ascii : ascii.dropLast()
        var key: [UInt8] = [1]
        for byte in sure { key += byte == 0 ? [0, 0xFF] : [byte] }
        raise(first: key)
        lower(end: IndexSelection.KeyRange.successor(of: key))
        narrowingCount += 1
        isExact = false
    }

    private mutating func raise(first key: [UInt8]) {
        if first.map({ $0.lexicographicallyPrecedes(key) }) ?? true { first = key }
    }

    private mutating func lower(end key: [UInt8]) {
        if end.map({ key.lexicographicallyPrecedes($0) }) ?? true { end = key }
    }

    /// The key of a constant; nil if values of the kind have none that is equal to it.
    private static func key(_ value: RowValue, _ kind: ColumnKind) -> [UInt8]? {
        var key = KeyWriter()
        switch value {
        case .null: key.appendNil()
        case .identifier(let number) where kind == .toOne: key.appendReference(number)
        case .double(let number) where number.isNaN: return nil
        case .float(let number) where number.isNaN: return nil
        default: guard key.append(value, as: kind) else { return nil }
        }
        return key.withBytes { Array($0) }
    }
}

extension ColumnKind {
    /// Whether `<` of a filter is the order of keys.
    fileprivate var isComparedByKeys: Bool {
        isInteger || [.attribute(.double), .attribute(.float), .attribute(.date), .attribute(.string)].contains(self)
    }
}
