/// The old location of a moved record, and its transaction: an entry of the first record of a moved frame,
/// `docs/FileFormat.md` section 6.
package struct MoveOrigin: Equatable {
    package static let byteCount = Fields.from.end

    /// The table of section 6.
    enum Fields {
        static let sequence = Field.U64(0)
        static let from = Field.Bytes(8, Location.byteCount)
    }

    package let sequence: UInt64
    /// The location that the record was moved from.
    package let from: Location

    init(sequence: UInt64, from: Location) {
        self.sequence = sequence
        self.from = from
    }

    /// Reads 20 bytes.
    package init(reading bytes: UnsafeRawPointer) {
        sequence = bytes[Fields.sequence]
        from = Location(reading: bytes[Fields.from])
    }

    func write(to bytes: UnsafeMutableRawPointer) {
        bytes[Fields.sequence] = sequence
        from.write(to: bytes[Fields.from])
    }
}
