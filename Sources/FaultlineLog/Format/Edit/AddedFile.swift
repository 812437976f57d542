import FaultlineDisk

/// The manifest's entry for a new file: `docs/FileFormat.md` section 8, edit 1.
package struct AddedFile: Equatable, Sendable {
    static let byteCount = 32

    /// The table of section 8, edit 1.
    enum Fields {
        static let number = Field.U64(0)
        static let kind = Field.U16(8)
        static let reserved = Field.U16(10)
        static let generation = Field.U32(12)
        static let salt = Field.U64(16)
        static let begun = Field.U64(24)
    }

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
        guard let kind = FileKind(rawValue: bytes[Fields.kind]), bytes[Fields.reserved] == 0 else { throw .newerFormat }
        number = bytes[Fields.number]
        self.kind = kind
        generation = bytes[Fields.generation]
        salt = bytes[Fields.salt]
        begun = bytes[Fields.begun]
        guard begun <= Limits.countMax else { throw .outOfRange }
    }

    func write(to writer: inout ByteWriter) {
        writer.append(structureOf: Self.byteCount) { bytes in
            bytes[Fields.number] = number
            bytes[Fields.kind] = kind.rawValue
            bytes[Fields.generation] = generation
            bytes[Fields.salt] = salt
            bytes[Fields.begun] = begun
        }
    }
}
