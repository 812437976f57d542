package import FaultlineLog

/// The permanent identity of one save.
///
/// Its text can be stored, for instance in a service's log, and parsed again.
public struct TransactionIdentifier: Hashable, Sendable, Codable, LosslessStringConvertible {
    private let high: UInt64
    private let low: UInt64

    package init(_ transaction: TransactionID) {
        high = transaction.high
        low = transaction.low
    }

    /// Parses the text of `description`; nil for any other text.
    public init?(_ description: String) {
        guard let (high, low) = IdentifierText.parse(description) else { return nil }
        self.high = high
        self.low = low
    }

    /// 32 hexadecimal digits.
    public var description: String { IdentifierText.text(high: high, low: low) }

    /// Reads the text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let identifier = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "A save is named by 32 hexadecimal digits.")
        }
        self = identifier
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    package var transactionID: TransactionID { TransactionID(high: high, low: low) }
}
