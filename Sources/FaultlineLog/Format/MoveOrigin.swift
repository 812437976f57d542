/// The old location of a moved record, and its transaction: an entry of the first record of a moved frame,
/// `docs/FileFormat.md` section 6.
package struct MoveOrigin: Equatable {
    package static let byteCount = 8 + Location.byteCount

    package let sequence: UInt64
    /// The location that the record was moved from.
    package let from: Location

    init(sequence: UInt64, from: Location) {
        self.sequence = sequence
        self.from = from
    }

    /// Reads 20 bytes.
    package init(reading bytes: UnsafeRawPointer) {
        sequence = bytes.u64(0)
        from = Location(reading: bytes + 8)
    }

    func write(to bytes: UnsafeMutableRawPointer) {
        bytes.set(sequence, 0)
        from.write(to: bytes + 8)
    }
}
