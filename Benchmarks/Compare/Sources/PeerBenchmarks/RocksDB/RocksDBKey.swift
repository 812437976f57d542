import Foundation

/// Keys in RocksDB's one order: a letter for the table, then numbers with the highest byte first, or a text.
///
/// A value of 13 bytes at most is made in place; e-mail addresses are written into a buffer.
struct RocksDBKey {
    enum Table: UInt8 {
        case department = 0x44
        case employee = 0x45
        /// Department and employee.
        case member = 0x49
        /// E-mail address.
        case email = 0x4D
        case photo = 0x50
    }

    /// The last four bytes are not used.
    private var words: InlineArray<2, UInt64>
    private let count: Int

    /// Table and number: nine bytes.
    @inline(__always)
    init(_ table: Table, _ number: UInt64) {
        words = [UInt64(table.rawValue) << 56 | number >> 8, number << 56]
        count = 9
    }

    /// A member of a department: 13 bytes.
    @inline(__always)
    init(department: UInt32, employee: UInt64) {
        words = [
            UInt64(Table.member.rawValue) << 56 | UInt64(department) << 24 | employee >> 40, employee << 24,
        ]
        count = 13
    }

    /// The position before all keys of a table.
    init(startOf table: Table) {
        words = [UInt64(table.rawValue) << 56, 0]
        count = 1
    }

    @inline(__always)
    func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        var stored = words
        for place in stored.indices { stored[place] = stored[place].bigEndian }
        return try stored.span.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// The number at the end of a key.
    @inline(__always)
    static func number(_ key: UnsafeRawBufferPointer) -> UInt64 {
        UInt64(bigEndian: key.loadUnaligned(fromByteOffset: key.count - 8, as: UInt64.self))
    }
}
