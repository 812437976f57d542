import FaultlineDisk

/// The manifest's entry for a new file: `docs/FileFormat.md` section 8, edit 1.
package struct AddedFile: Equatable, Sendable {
    static let byteCount = 32

    package let number: UInt64
    package let kind: FileKind
    package let generation: UInt32
    /// The salt of the file's header: the number alone does not distinguish a file from that of another copy of the
    /// store.
    package let salt: UInt64
    /// The newest sequence number assigned before a segment got its first record.
    ///
    /// A hot segment has records of later transactions only; a cold segment has no version that was superseded by then.
    /// 0 for files of other kinds.
    package let begun: UInt64

    package init(number: UInt64, kind: FileKind, generation: UInt32, salt: UInt64, begun: UInt64) {
        self.number = number
        self.kind = kind
        self.generation = generation
        self.salt = salt
        self.begun = begun
    }

    init(reading bytes: UnsafeRawPointer) throws(FormatFault) {
        guard let kind = FileKind(rawValue: bytes.u16(8)), bytes.u16(10) == 0 else { throw .newerFormat }
        number = bytes.u64(0)
        self.kind = kind
        generation = bytes.u32(12)
        salt = bytes.u64(16)
        begun = bytes.u64(24)
        guard begun <= Limits.countMax else { throw .outOfRange }
    }

    func write(to writer: inout ByteWriter) {
        writer.append(number)
        writer.append(kind.rawValue)
        writer.append(UInt16(0))
        writer.append(generation)
        writer.append(salt)
        writer.append(begun)
    }
}
