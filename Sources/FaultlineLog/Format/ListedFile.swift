import FaultlineDisk

/// What the manifest says of a file from the first: `docs/FileFormat.md` section 8, edit 1.
package struct AddedFile: Equatable, Sendable {
    static let byteCount = 32

    package let number: UInt64
    package let kind: FileKind
    package let generation: UInt32
    /// The salt of the file's header: the number alone does not tell a file from that of another copy of the store.
    package let salt: UInt64
    /// Of a segment: the newest sequence number given out before it got its first record. Else 0.
    package let begun: UInt64

    package init(number: UInt64, kind: FileKind, generation: UInt32, salt: UInt64, begun: UInt64) {
        self.number = number
        self.kind = kind
        self.generation = generation
        self.salt = salt
        self.begun = begun
    }

    init(reading bytes: UnsafeRawPointer) throws(FormatFault) {
        // Cold segments come under a feature bit that this version does not know.
        guard let kind = FileKind(rawValue: bytes.u16(8)), kind != .coldSegment, bytes.u16(10) == 0 else {
            throw .newerFormat
        }
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

/// What the manifest says of a file that does not change any more: `docs/FileFormat.md` section 8, edit 2.
package struct SealedFile: Equatable, Sendable {
    static let byteCount = 72

    package let number: UInt64
    /// Bytes of the file that count.
    package let end: UInt64
    /// headCRC of the last frame; 0 where it is not known, or there is none.
    package let chain: UInt32
    /// No transaction that the file holds something visible of has a sequence number outside.
    package let firstSequence: UInt64
    package let lastSequence: UInt64
    /// Zero where it was not computed, which this version never does.
    package let contentHash: ContentHash

    package init(
        number: UInt64, end: UInt64, chain: UInt32, firstSequence: UInt64, lastSequence: UInt64,
        contentHash: ContentHash = ContentHash()
    ) {
        self.number = number
        self.end = end
        self.chain = chain
        self.firstSequence = firstSequence
        self.lastSequence = lastSequence
        self.contentHash = contentHash
    }

    init(reading bytes: UnsafeRawPointer) throws(FormatFault) {
        guard bytes.u32(20) == 0 else { throw .newerFormat }
        number = bytes.u64(0)
        end = bytes.u64(8)
        chain = bytes.u32(16)
        firstSequence = bytes.u64(24)
        lastSequence = bytes.u64(32)
        contentHash = ContentHash(reading: bytes + 40)
        guard end <= Limits.countMax, firstSequence <= Limits.countMax, lastSequence <= Limits.countMax else {
            throw .outOfRange
        }
    }

    func write(to writer: inout ByteWriter) {
        writer.append(number)
        writer.append(end)
        writer.append(chain)
        writer.append(UInt32(0))
        writer.append(firstSequence)
        writer.append(lastSequence)
        contentHash.write(to: &writer)
    }
}

/// 32 bytes that tell a file's content, carried along by versions that do not compute them.
package struct ContentHash: Equatable, Sendable {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    package init() {}

    init(reading bytes: UnsafeRawPointer) {
        words = (bytes.u64(0), bytes.u64(8), bytes.u64(16), bytes.u64(24))
    }

    func write(to writer: inout ByteWriter) {
        writer.append(words.0)
        writer.append(words.1)
        writer.append(words.2)
        writer.append(words.3)
    }

    package static func == (left: ContentHash, right: ContentHash) -> Bool { left.words == right.words }
}

extension ManagedFile {
    /// The edit that lists the file.
    func addition(begun: UInt64 = 0) -> ManifestEdit {
        .fileAdded(
            AddedFile(
                number: number, kind: kind, generation: header.generation, salt: header.salt, begun: begun))
    }

    /// The edit that says that a file which is written once is complete.
    func completion(first: UInt64 = 0, last: UInt64) throws(LogError) -> ManifestEdit {
        let end = try onDisk("measuring a file") { () throws(DiskError) in try file.byteCount() }
        return .fileSealed(
            SealedFile(number: number, end: end, chain: 0, firstSequence: first, lastSequence: last))
    }
}
