import FaultlineDisk

/// The position from which the log is replayed over a table checkpoint: section 8, edit 4.
package struct CheckpointPosition: Equatable, Sendable {
    static let byteCount = 48

    enum Fields {
        static let file = Field.U64(0)
        static let segment = Field.U64(8)
        static let offset = Field.U64(16)
        static let previousHead = Field.U32(24)
        static let reserved = Field.U32(28)
        static let sequence = Field.U64(32)
        static let wallNanoseconds = Field.I64(40)
    }

    /// The checkpoint file; 0 if there is none and every table is empty.
    var file: UInt64
    var segment: UInt64
    var offset: UInt64
    /// headCRC of the frame before `offset`; 0 if there is none in the segment.
    var previousHead: UInt32
    package var sequence: UInt64
    var wallNanoseconds: Int64
}

extension CheckpointPosition {
    /// The position without a checkpoint: at the first of the hot segments.
    static func beginning(of hot: [UInt64], _ wallNanoseconds: Int64 = 0) -> CheckpointPosition {
        CheckpointPosition(
            file: 0, segment: hot.first ?? 0, offset: UInt64(FileHeader.byteCount), previousHead: 0, sequence: 0,
            wallNanoseconds: wallNanoseconds)
    }

    init(reading bytes: UnsafeRawPointer) throws(FormatFault) {
        guard bytes[Fields.reserved] == 0 else { throw .newerFormat }
        self.init(
            file: bytes[Fields.file], segment: bytes[Fields.segment], offset: bytes[Fields.offset],
            previousHead: bytes[Fields.previousHead], sequence: bytes[Fields.sequence],
            wallNanoseconds: bytes[Fields.wallNanoseconds])
        guard offset <= Limits.countMax, sequence <= Limits.countMax else { throw .outOfRange }
    }

    func write(to writer: inout ByteWriter) {
        writer.append(structureOf: Self.byteCount) { bytes in
            bytes[Fields.file] = file
            bytes[Fields.segment] = segment
            bytes[Fields.offset] = offset
            bytes[Fields.previousHead] = previousHead
            bytes[Fields.sequence] = sequence
            bytes[Fields.wallNanoseconds] = wallNanoseconds
        }
    }
}

/// The position from which the moves of a cold segment are replayed over a table checkpoint: section 8, edit 14.
package struct MovePosition: Equatable, Sendable {
    static let byteCount = 24

    enum Fields {
        static let segment = Field.U64(0)
        static let offset = Field.U64(8)
        static let previousHead = Field.U32(16)
        static let reserved = Field.U32(20)
    }

    var segment: UInt64
    var offset: UInt64
    /// headCRC of the frame before `offset`; 0 if there is none in the segment.
    var previousHead: UInt32

    init(segment: UInt64, offset: UInt64 = UInt64(FileHeader.byteCount), previousHead: UInt32 = 0) {
        self.segment = segment
        self.offset = offset
        self.previousHead = previousHead
    }

    init(reading bytes: UnsafeRawPointer) throws(FormatFault) {
        guard bytes[Fields.reserved] == 0 else { throw .newerFormat }
        self.init(
            segment: bytes[Fields.segment], offset: bytes[Fields.offset], previousHead: bytes[Fields.previousHead])
        guard offset <= Limits.countMax else { throw .outOfRange }
    }

    func write(to writer: inout ByteWriter) {
        writer.append(structureOf: Self.byteCount) { bytes in
            bytes[Fields.segment] = segment
            bytes[Fields.offset] = offset
            bytes[Fields.previousHead] = previousHead
        }
    }
}

/// One entry of the manifest: `docs/FileFormat.md` section 8.
package enum ManifestEdit: Equatable, Sendable {
    case fileAdded(AddedFile)
    case fileSealed(SealedFile)
    case fileDropped(number: UInt64)
    case checkpoint(CheckpointPosition)
    case runAdded(RunEntry)
    case runDropped(index: UInt32, file: UInt64)
    case durable(file: UInt64, offset: UInt64, head: UInt32)
    case nextFileNumber(UInt64)
    case usage(segment: UInt64, live: UInt64, total: UInt64)
    case clean
    case identifiers(table: UInt16, next: UInt64)
    case manifest(ManifestOrigin)
    case replayFrom(MovePosition)
    case fileDamaged(number: UInt64)
    case stateKept(KeptState)
    case stateReleased

    /// The manifest's entry for a run: edit 5.
    package struct RunEntry: Equatable, Sendable {
        static let byteCount = 40

        enum Fields {
            static let index = Field.U32(0)
            static let level = Field.U16(4)
            static let reserved = Field.U16(6)
            static let file = Field.U64(8)
            static let entryCount = Field.U64(16)
            static let firstSequence = Field.U64(24)
            static let lastSequence = Field.U64(32)
        }

        var index: UInt32
        var level: UInt16
        var file: UInt64
        var entryCount: UInt64
        var firstSequence: UInt64
        var lastSequence: UInt64
    }

    /// Edit 6.
    private enum RunDroppedFields {
        static let byteCount = 16
        static let index = Field.U32(0)
        static let reserved = Field.U32(4)
        static let file = Field.U64(8)
    }

    /// Edit 7.
    private enum DurableFields {
        static let byteCount = 24
        static let file = Field.U64(0)
        static let offset = Field.U64(8)
        static let head = Field.U32(16)
        static let reserved = Field.U32(20)
    }

    /// Edit 9.
    private enum UsageFields {
        static let byteCount = 24
        static let segment = Field.U64(0)
        static let live = Field.U64(8)
        static let total = Field.U64(16)
    }

    /// Edit 12.
    private enum IdentifiersFields {
        static let byteCount = 16
        static let table = Field.U16(0)
        static let reserved = Field.Bytes(2, 6)
        static let next = Field.U64(8)
    }

    /// Edits 3, 8 and 15: one number.
    private enum NumberFields {
        static let byteCount = 8
        static let number = Field.U64(0)
    }

    /// The edit kind, which is in the record header's `layout`.
    var kind: UInt16 {
        switch self {
        case .fileAdded: 1
        case .fileSealed: 2
        case .fileDropped: 3
        case .checkpoint: 4
        case .runAdded: 5
        case .runDropped: 6
        case .durable: 7
        case .nextFileNumber: 8
        case .usage: 9
        case .clean: 11
        case .identifiers: 12
        case .manifest: 13
        case .replayFrom: 14
        case .fileDamaged: 15
        case .stateKept: 16
        case .stateReleased: 17
        }
    }

    /// Appends the payload.
    func write(to writer: inout ByteWriter) {
        switch self {
        case .fileAdded(let file): file.write(to: &writer)
        case .fileSealed(let file): file.write(to: &writer)
        case .manifest(let origin): origin.write(to: &writer)
        case .stateKept(let state): state.write(to: &writer)
        case .checkpoint(let position): position.write(to: &writer)
        case .runAdded(let run): run.write(to: &writer)
        case .replayFrom(let position): position.write(to: &writer)
        case .fileDropped(let number), .nextFileNumber(let number), .fileDamaged(let number):
            writer.append(structureOf: NumberFields.byteCount) { $0[NumberFields.number] = number }
        case .runDropped(let index, let file):
            writer.append(structureOf: RunDroppedFields.byteCount) { bytes in
                bytes[RunDroppedFields.index] = index
                bytes[RunDroppedFields.file] = file
            }
        case .durable(let file, let offset, let head):
            writer.append(structureOf: DurableFields.byteCount) { bytes in
                bytes[DurableFields.file] = file
                bytes[DurableFields.offset] = offset
                bytes[DurableFields.head] = head
            }
        case .usage(let segment, let live, let total):
            writer.append(structureOf: UsageFields.byteCount) { bytes in
                bytes[UsageFields.segment] = segment
                bytes[UsageFields.live] = live
                bytes[UsageFields.total] = total
            }
        case .identifiers(let table, let next):
            writer.append(structureOf: IdentifiersFields.byteCount) { bytes in
                bytes[IdentifiersFields.table] = table
                bytes[IdentifiersFields.next] = next
            }
        case .clean, .stateReleased: break
        }
    }

    /// Reads the payload of an edit of that kind.
    ///
    /// - Throws: `.newerFormat` if this version does not know the kind or a value in it; `.outOfRange` if the payload
    ///   has not the kind's size.
    package init(kind: UInt16, payload: UnsafeRawBufferPointer) throws(FormatFault) {
        guard let size = Self.byteCount(ofKind: kind) else { throw .newerFormat }
        guard payload.count == size else { throw .outOfRange }
        guard let bytes = payload.baseAddress, size > 0 else {
            self = kind == 17 ? .stateReleased : .clean
            return
        }
        switch kind {
        case 1: self = .fileAdded(try AddedFile(reading: bytes))
        case 2: self = .fileSealed(try SealedFile(reading: bytes))
        case 13: self = .manifest(try ManifestOrigin(reading: bytes))
        case 3: self = .fileDropped(number: bytes[NumberFields.number])
        case 4: self = .checkpoint(try CheckpointPosition(reading: bytes))
        case 5: self = .runAdded(try RunEntry(reading: bytes))
        case 6:
            guard bytes[RunDroppedFields.reserved] == 0 else { throw .newerFormat }
            self = .runDropped(index: bytes[RunDroppedFields.index], file: bytes[RunDroppedFields.file])
        case 7:
            guard bytes[DurableFields.reserved] == 0 else { throw .newerFormat }
            guard bytes[DurableFields.offset] <= Limits.countMax else { throw .outOfRange }
            self = .durable(
                file: bytes[DurableFields.file], offset: bytes[DurableFields.offset], head: bytes[DurableFields.head])
        case 8: self = .nextFileNumber(bytes[NumberFields.number])
        case 9:
            self = .usage(
                segment: bytes[UsageFields.segment], live: bytes[UsageFields.live], total: bytes[UsageFields.total])
        case 12:
            guard bytes.isZero(IdentifiersFields.reserved) else { throw .newerFormat }
            self = .identifiers(table: bytes[IdentifiersFields.table], next: bytes[IdentifiersFields.next])
        case 14: self = .replayFrom(try MovePosition(reading: bytes))
        case 15: self = .fileDamaged(number: bytes[NumberFields.number])
        case 16: self = .stateKept(try KeptState(reading: bytes))
        default: throw .newerFormat
        }
    }

    /// Bytes of an edit's payload; nil for a kind that this version does not know.
    private static func byteCount(ofKind kind: UInt16) -> Int? {
        switch kind {
        case 1: AddedFile.byteCount
        case 2: SealedFile.byteCount
        case 3, 8, 15: NumberFields.byteCount
        case 4: CheckpointPosition.byteCount
        case 5: RunEntry.byteCount
        case 6: RunDroppedFields.byteCount
        case 7: DurableFields.byteCount
        case 9: UsageFields.byteCount
        case 12: IdentifiersFields.byteCount
        case 14: MovePosition.byteCount
        case 11, 17: 0
        case 13: ManifestOrigin.byteCount
        case 16: KeptState.byteCount
        default: nil
        }
    }
}

extension ManifestEdit.RunEntry {
    init(reading bytes: UnsafeRawPointer) throws(FormatFault) {
        guard bytes[Fields.reserved] == 0 else { throw .newerFormat }
        self.init(
            index: bytes[Fields.index], level: bytes[Fields.level], file: bytes[Fields.file],
            entryCount: bytes[Fields.entryCount], firstSequence: bytes[Fields.firstSequence],
            lastSequence: bytes[Fields.lastSequence])
    }

    func write(to writer: inout ByteWriter) {
        writer.append(structureOf: Self.byteCount) { bytes in
            bytes[Fields.index] = index
            bytes[Fields.level] = level
            bytes[Fields.file] = file
            bytes[Fields.entryCount] = entryCount
            bytes[Fields.firstSequence] = firstSequence
            bytes[Fields.lastSequence] = lastSequence
        }
    }
}
