internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore

/// The record of an object in an upload: a header, and the row at a multiple of 8.
struct SpilledHeader {
    static let byteCount = 24
    private static let extensionFlag: UInt16 = 1
    private static let awakeFlag: UInt16 = 2

    let number: UInt64
    let changedMask: UInt64
    let rowByteCount: Int
    let ordinal: Int
    let hasExtension: Bool
    let isAwake: Bool

    /// Bytes of the whole record.
    var recordByteCount: Int { Self.byteCount + (rowByteCount + 7) / 8 * 8 }

    init(_ core: UnsafeMutablePointer<ModelCore>, _ draft: Draft, ordinal: Int) {
        number = core.pointee.number
        changedMask = draft.changedMask
        rowByteCount = draft.encodedByteCount
        self.ordinal = ordinal
        hasExtension = draft.hasExtension
        isAwake = core.pointee.has(.awake)
    }

    init(reading bytes: UnsafeRawPointer) {
        number = bytes.loadUnaligned(as: UInt64.self)
        changedMask = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        rowByteCount = Int(bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
        ordinal = Int(bytes.loadUnaligned(fromByteOffset: 20, as: UInt16.self))
        let flags = bytes.loadUnaligned(fromByteOffset: 22, as: UInt16.self)
        hasExtension = flags & Self.extensionFlag != 0
        isAwake = flags & Self.awakeFlag != 0
    }

    func write(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: number, as: UInt64.self)
        bytes.storeBytes(of: changedMask, toByteOffset: 8, as: UInt64.self)
        bytes.storeBytes(of: UInt32(rowByteCount), toByteOffset: 16, as: UInt32.self)
        bytes.storeBytes(of: UInt16(ordinal), toByteOffset: 20, as: UInt16.self)
        let flags = (hasExtension ? Self.extensionFlag : 0) | (isAwake ? Self.awakeFlag : 0)
        bytes.storeBytes(of: flags, toByteOffset: 22, as: UInt16.self)
    }
}

/// Writes the rows of new objects to an upload.
struct SpillWriter {
    /// The largest row that is written; larger ones stay in memory, and are few.
    static let rowByteCountMax = 32_768

    private let upload: BlobUpload
    private var buffer: [UInt8] = []
    private(set) var byteCount: UInt64 = 0
    private(set) var count = 0
    /// By ordinal of the entity.
    private(set) var counts: [Int]
    private(set) var first: UInt64 = 0
    private(set) var last: UInt64

    /// - Parameters:
    ///   - upload: Gets the rows.
    ///   - entityCount: The entities of the schema.
    ///   - last: The last temporary number that was written before.
    init(_ upload: BlobUpload, entityCount: Int, after last: UInt64) {
        self.upload = upload
        self.last = last
        counts = [Int](repeating: 0, count: entityCount)
    }

    mutating func write(
        _ core: UnsafeMutablePointer<ModelCore>, _ draft: Draft, ordinal: Int
    ) throws(LogError) {
        let header = SpilledHeader(core, draft, ordinal: ordinal)
        let start = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: header.recordByteCount))
        buffer.withUnsafeMutableBytes { bytes in
            guard let record = bytes.baseAddress.map({ $0 + start }) else { return }
            header.write(to: record)
            _ = draft.encode(into: record + SpilledHeader.byteCount)
        }
        if count == 0 { first = header.number }
        last = header.number
        count += 1
        counts[ordinal] += 1
        byteCount += UInt64(header.recordByteCount)
        if buffer.count >= Limits.chunkByteCount { try flush() }
    }

    private mutating func flush() throws(LogError) {
        let upload = upload
        let result = buffer.withUnsafeBytes { bytes in
            Result { () throws(LogError) in try upload.append(bytes) }
        }
        buffer.removeAll(keepingCapacity: true)
        try result.get()
    }

    mutating func finish() throws(LogError) -> FinishedUpload {
        try flush()
        return try upload.finish()
    }
}

/// Reads the rows of new objects one after the other.
final class SpillReader {
    /// A new object, whose row is valid until the next call.
    struct Object {
        let header: SpilledHeader
        let home: EntityHome
        let type: ModelType
        let entity: EntityStorage
        fileprivate let row: RowView

        /// Makes the object, which is in the context but in none of its lists.
        func make() -> ObjectHandle {
            var flags: ModelCore.Flags = .attached | .temporary
            flags = flags | .inserted
            if header.isAwake { flags = flags | .awake }
            let made = ObjectRegistry(home.context).withPendingFault(
                header.number, home, type, row: .none, flags: flags
            ) { type.makeFault() }
            _ = type.coreOffset(of: made)
            let handle = ObjectHandle(object: made, core: core(of: made))
            let draft = Draft.create(copying: row, layout: home.layout)
            for slot in 0..<entity.slots.count where header.changedMask & 1 << UInt64(slot) != 0 { draft.mark(slot) }
            handle.core.pointee.draftPointer = draft.block
            return handle
        }

        private func core(of made: AnyObject) -> UnsafeMutablePointer<ModelCore> {
            guard let core = home.core(of: made) else {
                preconditionFailure("A type that makes objects knows where their cores are.")
            }
            return core
        }
    }

    private static let byteCount = 128 << 10

    let spilled: SpilledInserts
    private let homes: [EntityHome]
    /// How many objects were read.
    private(set) var count = 0
    private var part = 0
    /// The end of the bytes of the part that were read.
    private var end: UInt64 = 0
    private let buffer = BufferMemory.allocateBuffer(byteCount: SpillReader.byteCount)
    private var unread = 0..<0

    init(_ spilled: SpilledInserts, of context: ContextCore) {
        self.spilled = spilled
        homes = context.homes.all
    }

    deinit { BufferMemory.deallocate(buffer) }

    /// The next object; nil at the end.
    ///
    /// - Throws: `LogError` if the upload cannot be read; `StoreError` if it has another form.
    func next() throws -> Object? {
        guard count < spilled.count else { return nil }
        if unread.isEmpty, end == spilled.parts[part].byteCount {
            part += 1
            end = 0
        }
        try fill(SpilledHeader.byteCount)
        guard let start = buffer.baseAddress else { return nil }
        let header = SpilledHeader(reading: start + unread.lowerBound)
        guard header.rowByteCount <= SpillWriter.rowByteCountMax else { throw malformed }
        try fill(header.recordByteCount)
        let place = unread.lowerBound + SpilledHeader.byteCount
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[place..<(place + header.rowByteCount)])
        guard header.ordinal < homes.count, let entity = homes[header.ordinal].entity,
            let type = homes[header.ordinal].type,
            let row = RowView(checking: bytes, layout: entity.layout, hasExtension: header.hasExtension)
        else { throw malformed }
        unread = (unread.lowerBound + header.recordByteCount)..<unread.upperBound
        count += 1
        return Object(header: header, home: homes[header.ordinal], type: type, entity: entity, row: row)
    }

    /// Makes the objects that were inserted before the one at a place of the context's list, and that were not read yet,
    /// and calls `body` with each; makes all that are left if the place is nil.
    ///
    /// - Throws: As `next`; errors of `body`.
    func forEach(
        before position: Int?, _ body: (Object, UnsafeMutablePointer<ModelCore>) throws -> Void
    ) throws {
        let end = position.map(spilled.countBefore) ?? spilled.count
        while count < end, let object = try next() {
            let handle = object.make()
            try withExtendedLifetime(handle.object) { try body(object, handle.core) }
        }
    }

    /// Reads on until so many bytes are unread.
    private func fill(_ byteCount: Int) throws {
        guard unread.count < byteCount else { return }
        if let start = buffer.baseAddress, !unread.isEmpty {
            start.copyMemory(from: start + unread.lowerBound, byteCount: unread.count)
        }
        unread = 0..<unread.count
        let part = spilled.parts[part]
        let added = min(UInt64(buffer.count - unread.count), part.byteCount - end)
        let target = UnsafeMutableRawBufferPointer(
            rebasing: buffer[unread.count..<(unread.count + Int(added))])
        try part.upload.held.read(end..<(end + added), into: target)
        end += added
        unread = 0..<(unread.count + Int(added))
        guard unread.count >= byteCount else { throw malformed }
    }

    private var malformed: StoreError {
        StoreError(
            .malformed,
            "New object \(count + 1) of those that the stage has written before its save has another form there. Nothing is lost: run the migration again."
        )
    }
}
