package import FaultlineLog

/// The row of a link: `docs/FileFormat.md` section 7.
package enum LinkRow {
    package static let left = 0
    package static let right = 1
    package static let leftOrder = 2
    package static let rightOrder = 3

    /// The layout of link rows: four words.
    package static func makeLayout(number: UInt16) -> RowLayout {
        RowLayout(
            number: number, entityName: "",
            columns: (0..<4).map { ColumnDescription(number: UInt32($0) + 1, kind: .link) })
    }

    package static let byteCount = 32

    /// Writes a link's row.
    package static func write(
        left: RecordID, right: RecordID, leftOrder: UInt64, rightOrder: UInt64, to target: UnsafeMutableRawBufferPointer
    ) {
        guard target.count >= byteCount else { return }
        target.storeBytes(of: left.littleEndian, toByteOffset: 0, as: UInt64.self)
        target.storeBytes(of: right.littleEndian, toByteOffset: 8, as: UInt64.self)
        target.storeBytes(of: leftOrder.littleEndian, toByteOffset: 16, as: UInt64.self)
        target.storeBytes(of: rightOrder.littleEndian, toByteOffset: 24, as: UInt64.self)
    }

    /// Reads a link's row; nil if it has another size.
    package static func read(
        _ row: UnsafeRawBufferPointer
    ) -> (left: RecordID, right: RecordID, leftOrder: UInt64, rightOrder: UInt64)? {
        guard row.count == byteCount else { return nil }
        func word(_ index: Int) -> UInt64 {
            UInt64(littleEndian: row.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
        return (word(0), word(1), word(2), word(3))
    }
}
