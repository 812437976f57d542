internal import FaultlineLog

/// A position in the history of a store: after one transaction.
public struct DefaultHistoryToken: HistoryToken {
    /// The number of the transaction, by identifier of the store.
    public let tokenValue: [String: Int64]?
    /// When it was written, in microseconds since 1970: after a rollback or in a backup, another transaction may have
    /// the same number.
    let times: [String: UInt64]

    init(store: String, number: UInt64, microseconds: UInt64) {
        tokenValue = [store: Int64(clamping: number)]
        times = [store: microseconds]
    }

    /// The token itself.
    public var id: [String: Int64] { tokenValue ?? [:] }

    /// Whether both name the same transaction.
    public static func == (left: Self, right: Self) -> Bool { left.id == right.id }

    /// Hashes the properties that `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(tokenValue) }

    /// Orders tokens of one store in the order of their transactions; tokens of several stores by the stores'
    /// identifiers first.
    public static func < (left: Self, right: Self) -> Bool {
        let keys = Set(left.id.keys).union(right.id.keys).sorted()
        for key in keys {
            let (first, second) = (left.id[key] ?? 0, right.id[key] ?? 0)
            if first != second { return first < second }
        }
        return false
    }

    private enum CodingKeys: String, CodingKey { case transactions, microseconds }

    /// The greatest number of stores in a decoded token.
    private static let storeCountMax = 1_024

    /// Decodes a token that `encode(to:)` wrote.
    ///
    /// - Throws: `DecodingError` if a part is missing, if there are more than 1,024 stores, if both parts are not of
    ///   the same stores, if a store is not 32 hexadecimal digits, or if no transaction can have the number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let numbers = try container.decode([String: Int64].self, forKey: .transactions)
        times = try container.decode([String: UInt64].self, forKey: .microseconds)
        tokenValue = numbers
        func refuse(_ why: String) -> DecodingError {
            .dataCorruptedError(forKey: .transactions, in: container, debugDescription: why)
        }
        guard numbers.count <= Self.storeCountMax else {
            throw refuse("A history token has at most \(Self.storeCountMax) stores.")
        }
        guard numbers.count == times.count, numbers.keys.allSatisfy({ times[$0] != nil }) else {
            throw refuse("A history token has a number and a time for each store.")
        }
        for (store, number) in numbers {
            guard IdentifierText.parse(store) != nil else {
                throw refuse("\(store.excerpt) is no store identifier: 32 hexadecimal digits.")
            }
            guard number >= 0, UInt64(number) <= Limits.recordIDMax else {
                throw refuse("The number of a transaction is from 0 to \(Limits.recordIDMax), and not \(number).")
            }
        }
    }

    /// Encodes numbers and times by identifier of the store.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .transactions)
        try container.encode(times, forKey: .microseconds)
    }
}
