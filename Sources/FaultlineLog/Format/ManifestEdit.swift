import FaultlineDisk

/// The position from which the log is replayed over a table checkpoint.
package struct CheckpointPosition: Equatable, Sendable {
    /// The checkpoint file; 0 if there is none and every table is empty.
    var file: UInt64
    var segment: UInt64
    var offset: UInt64
    /// headCRC of the frame before `offset`; 0 if there is none in the segment.
    var previousHead: UInt32
    package var sequence: UInt64
    var wallNanoseconds: Int64
}

/// The position from which the moves of a cold segment are replayed over a table checkpoint.
package struct MovePosition: Equatable, Sendable {
    var segment: UInt64
    var offset: UInt64
    /// headCRC of the frame before `offset`; 0 if there is none in the segment.
    var previousHead: UInt32

    init(segment: UInt64, offset: UInt64 = UInt64(FileHeader.byteCount), previousHead: UInt32 = 0) {
        self.segment = segment
        self.offset = offset
        self.previousHead = previousHead
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

    /// The manifest's entry for a run.
    package struct RunEntry: Equatable, Sendable {
        var index: UInt32
        var level: UInt16
        var file: UInt64
        var entryCount: UInt64
        var firstSequence: UInt64
        var lastSequence: UInt64
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
        case .fileDropped(let number), .nextFileNumber(let number), .fileDamaged(let number):
            writer.append(number)
        case .checkpoint(let position):
            writer.append(position.file)
            writer.append(position.segment)
            writer.append(position.offset)
            writer.append(position.previousHead)
            writer.append(UInt32(0))
            writer.append(position.sequence)
            writer.append(position.wallNanoseconds)
        case .runAdded(let run):
            writer.append(run.index)
            writer.append(run.level)
            writer.append(UInt16(0))
            writer.append(run.file)
            writer.append(run.entryCount)
            writer.append(run.firstSequence)
            writer.append(run.lastSequence)
        case .runDropped(let index, let file):
            writer.append(index)
            writer.append(UInt32(0))
            writer.append(file)
        case .durable(let file, let offset, let head):
            writer.append(file)
            writer.append(offset)
            writer.append(head)
            writer.append(UInt32(0))
        case .usage(let segment, let live, let total):
            writer.append(segment)
            writer.append(live)
            writer.append(total)
        case .replayFrom(let position):
            writer.append(position.segment)
            writer.append(position.offset)
            writer.append(position.previousHead)
            writer.append(UInt32(0))
        case .clean, .stateReleased:
            break
        case .identifiers(let table, let next):
            writer.append(table)
            writer.append(UInt16(0))
            writer.append(UInt32(0))
            writer.append(next)
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
        case 3: self = .fileDropped(number: bytes.u64(0))
        case 4:
            guard bytes.u32(28) == 0 else { throw .newerFormat }
            guard bytes.u64(16) <= Limits.countMax, bytes.u64(32) <= Limits.countMax else { throw .outOfRange }
            self = .checkpoint(
                CheckpointPosition(
                    file: bytes.u64(0), segment: bytes.u64(8), offset: bytes.u64(16), previousHead: bytes.u32(24),
                    sequence: bytes.u64(32), wallNanoseconds: Int64(bitPattern: bytes.u64(40))))
        case 5:
            guard bytes.u16(6) == 0 else { throw .newerFormat }
            self = .runAdded(
                RunEntry(
                    index: bytes.u32(0), level: bytes.u16(4), file: bytes.u64(8), entryCount: bytes.u64(16),
                    firstSequence: bytes.u64(24), lastSequence: bytes.u64(32)))
        case 6:
            guard bytes.u32(4) == 0 else { throw .newerFormat }
            self = .runDropped(index: bytes.u32(0), file: bytes.u64(8))
        case 7:
            guard bytes.u32(20) == 0 else { throw .newerFormat }
            guard bytes.u64(8) <= Limits.countMax else { throw .outOfRange }
            self = .durable(file: bytes.u64(0), offset: bytes.u64(8), head: bytes.u32(16))
        case 8: self = .nextFileNumber(bytes.u64(0))
        case 9: self = .usage(segment: bytes.u64(0), live: bytes.u64(8), total: bytes.u64(16))
        case 12:
            guard bytes.u16(2) == 0, bytes.u32(4) == 0 else { throw .newerFormat }
            self = .identifiers(table: bytes.u16(0), next: bytes.u64(8))
        case 14:
            guard bytes.u32(20) == 0 else { throw .newerFormat }
            guard bytes.u64(8) <= Limits.countMax else { throw .outOfRange }
            self = .replayFrom(
                MovePosition(segment: bytes.u64(0), offset: bytes.u64(8), previousHead: bytes.u32(16)))
        case 15: self = .fileDamaged(number: bytes.u64(0))
        case 16: self = .stateKept(try KeptState(reading: bytes))
        default: throw .newerFormat
        }
    }

    /// Bytes of an edit's payload; nil for a kind that this version does not know.
    private static func byteCount(ofKind kind: UInt16) -> Int? {
        switch kind {
        case 1: AddedFile.byteCount
        case 2: SealedFile.byteCount
        case 3, 8, 15: 8
        case 4: 48
        case 5: 40
        case 6, 12: 16
        case 7, 9, 14: 24
        case 11, 17: 0
        case 13: ManifestOrigin.byteCount
        case 16: KeptState.byteCount
        default: nil
        }
    }
}
