internal import FaultlineModel

/// The bounds of one attribute's keys by conditions.
///
/// Conditions whose constants have no key in the attribute's kind are checked on the rows. So are comparisons of
/// decimals: not-a-number is below all numbers in a filter, and above them in an index.
struct KeyBounds {
    /// The key that the attribute must have.
    private(set) var equal: [UInt8]?
    /// The number of conditions for equality.
    private(set) var equalCount = 0
    /// The number of conditions that the ranges cover.
    private(set) var narrowingCount = 0
    /// Whether the ranges contain only values that the conditions allow.
    private(set) var isExact = true
    private let kind: ColumnKind
    private var members: [[UInt8]]?
    /// The greatest lower bound and the least upper bound, as keys: `first` is wanted, `end` is not.
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

    /// The ranges of the conditions behind a prefix; nil if they exclude nothing.
    func ranges(behind prefix: [UInt8]) -> [IndexSelection.KeyRange]? {
        if let members { return members.map { IndexSelection.KeyRange(prefix: prefix + $0) } }
        guard first != nil || end != nil else { return nil }
        return [
            IndexSelection.KeyRange(
                prefix: prefix, first: prefix + (first ?? [1]), end: prefix + (end ?? greatest))
        ]
    }

    /// The first key behind those of values that a comparison can find: it finds no not-a-number.
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
        // A list of values needs no range; further conditions are checked on the rows.
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
        // A following scalar may combine with a letter, so only ASCII before ASCII is a certain prefix.
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

    /// The key of a constant; nil if no value of the kind equals it.
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
