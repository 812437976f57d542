/// The number of a table; never reused.
package struct TableID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt16
    @inlinable package init(rawValue: UInt16) { self.rawValue = rawValue }
    package static let catalog = TableID(rawValue: 1)
    package static let blobs = TableID(rawValue: 2)
    /// The changes of each save (`docs/FileFormat.md` section 7.3).
    package static let history = TableID(rawValue: 3)
    /// The first number that an entity or link may have.
    package static let firstEntity: UInt16 = 16
    @inlinable package static func < (left: TableID, right: TableID) -> Bool { left.rawValue < right.rawValue }
}

/// The identifier of an object in its table: 48 bits, from 1.
package typealias RecordID = UInt64

/// The number of an index; never reused.
package struct IndexID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt32
    @inlinable package init(rawValue: UInt32) { self.rawValue = rawValue }
    @inlinable package static func < (left: IndexID, right: IndexID) -> Bool { left.rawValue < right.rawValue }
}

/// The permanent name of a transaction: 16 random bytes.
package struct TransactionID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// The permanent name of a store: 16 random bytes.
package struct StoreID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
