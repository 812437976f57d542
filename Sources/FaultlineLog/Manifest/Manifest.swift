import FaultlineDisk

/// The durable list of a store's valid files, open for edits.
///
/// Each call of `commit` is one group of frames, synchronized before it returns. After a failed write the file gets no
/// more bytes: a new manifest replaces it, and if that fails too, the error stands. A full disk is detected before
/// anything is written, and changes nothing.
///
/// Concurrency: guarded by its lock, which is held across the write; lock order: writer lock, leadership, this.
// Safe because mutable state is guarded by the lock.
package final class Manifest: @unchecked Sendable {
    private let directory: StoreDirectory
    private let rotation: Rotation
    private let lock = EngineLock()
    private var file: File
    private var current: ManifestState
    private var failure: LogError?
    /// Called once, with the error after which the newest edit's outcome is unknown.
    private let failed: Failed

    /// Bytes reserved for edits that must not meet a full disk.
    private static let roomByteCount: UInt64 = 16 << 10
    /// The part of these bytes that is for switching the log to another segment.
    private static let lastRoomByteCount: UInt64 = 4 << 10
    /// The largest edit with its header, and its share of a frame's header, in bytes.
    private static let editByteCountMax = 160

    /// Called after a failure.
    // Safe because it is set before the manifest is shared.
    final class Failed: @unchecked Sendable {
        var call: (@Sendable (LogError) -> Void)?
    }

    /// The size at which a new manifest replaces the present one: the snapshot's size counts too, so that a large one
    /// is not written for every edit.
    package struct Rotation: Sendable {
        /// The least number of bytes.
        let byteCount: Int
        /// The least multiple of the snapshot's size.
        let growth: Int

        package init(_ options: LogOptions) {
            byteCount = options.manifestByteCount
            growth = options.manifestGrowth
        }

        func isDue(snapshotEnd: UInt64, end: UInt64) -> Bool {
            end >= UInt64(byteCount) && end / UInt64(max(growth, 1)) >= snapshotEnd
        }
    }

    /// The file of the manifest in force, and its written end.
    private struct File {
        let managed: ManagedFile
        let snapshotEnd: UInt64
        var end: UInt64
        /// The reserved space behind `end`.
        var room: RoomAhead
        /// headCRC of the last frame.
        var head: UInt32
    }

    /// A manifest that is being replaced, and headCRC of its last frame.
    package typealias Predecessor = (managed: ManagedFile, head: UInt32)

    /// Writes a new manifest, whose snapshot holds the whole state, and puts it in force.
    ///
    /// It replaces `predecessor`. That one and the manifests at the paths `superseded` are removed for good when this
    /// returns.
    package init(
        _ state: ManifestState, in directory: StoreDirectory, rotation: Rotation, replacing predecessor: Predecessor?,
        superseded: [String] = []
    ) throws(LogError) {
        self.directory = directory
        self.rotation = rotation
        failed = Failed()
        let fresh = try Self.prepare(
            state, in: directory, replacing: predecessor, epoch: (state.origin?.epoch ?? 0) + 1)
        try fresh.write(in: directory)
        file = fresh.file
        current = fresh.state
        try Self.removeSuperseded((predecessor.map { [$0.managed.path] } ?? []) + superseded, in: directory)
    }

    /// Continues a manifest that was closed cleanly.
    init(
        continuing reading: ManifestReader.Reading, in directory: StoreDirectory, rotation: Rotation
    ) {
        self.directory = directory
        self.rotation = rotation
        failed = Failed()
        file = File(
            managed: reading.managed, snapshotEnd: reading.snapshotEnd, end: reading.end,
            room: RoomAhead(from: reading.end), head: reading.previousHead)
        current = reading.state
    }

    /// The present state.
    package var state: ManifestState { lock.withLock { current } }

    /// Bytes of the manifest.
    package var byteCount: UInt64 { lock.withLock { file.end } }

    /// Sets the closure that is called when an edit may or may not be durable; to be called once, before the first
    /// edit.
    func onFailure(_ call: @escaping @Sendable (LogError) -> Void) { failed.call = call }

    /// Reserves disk space for some more edits, so that the next `commit` of that many does not find the disk full.
    ///
    /// - Throws: `.fullDisk`; then nothing has changed.
    func makeRoom(editCount: Int = 0) throws(LogError) {
        lock.lock()
        defer { lock.unlock() }
        let byteCount = UInt64(editCount * Self.editByteCountMax)
        try file.room.make(through: file.end + byteCount + Self.roomByteCount, in: file.managed.file)
    }

    /// Frees the reserved space; to be called when no edit follows.
    func releaseReserve() {
        lock.lock()
        defer { lock.unlock() }
        file.managed.releaseReserve()
    }

    /// Makes edits durable, all or none.
    ///
    /// - Parameters:
    ///   - edits: The edits.
    ///   - isSwitching: Whether the log continues in another segment: the last part of the reserved space is for this.
    ///   - isFresh: Whether to write them as a new manifest, which replaces this one.
    /// - Throws: `.fullDisk`, after which the edits are not there and may be tried again. After any other error nothing
    ///   more can be committed, because it is unknown whether they are there.
    package func commit(
        _ edits: [ManifestEdit], isSwitching: Bool = false, isFresh: Bool = false
    ) throws(LogError) {
        lock.lock()
        defer { lock.unlock() }
        if let failure { throw failure }
        var next = current
        for edit in edits {
            guard next.apply(edit) else {
                throw LogError(.damaged, "The manifest refuses the edit \(edit).", path: file.managed.path)
            }
        }
        next.nextFileNumber = max(next.nextFileNumber, directory.nextFileNumber)
        if isFresh {
            let fresh = try prepare(next)
            return try failing { () throws(LogError) in try rotate(to: fresh) }
        }
        if rotation.isDue(snapshotEnd: file.snapshotEnd, end: file.end), let fresh = tryToPrepare(next) {
            try failing { () throws(LogError) in try rotate(to: fresh) }
            return
        }
        var frames = ByteWriter(byteCapacity: 4_096)
        let head = Self.encode(
            edits, directory.progress, into: &frames, at: file.end, durable: file.end, previousHead: file.head,
            of: file.managed.header)
        let kept = isSwitching ? 0 : Self.lastRoomByteCount
        try file.room.make(through: file.end + UInt64(frames.byteCount) + kept, in: file.managed.file)
        do throws(LogError) {
            try append(frames, head: head)
            current = next
        } catch {
            // The frames may or may not be there; a newer manifest decides.
            let appending = error
            try failing { () throws(LogError) in
                guard let fresh = tryToPrepare(next) else { throw appending }
                try rotate(to: fresh)
            }
        }
    }

    /// Runs a step that must not fail: after an error the manifest's content is unknown.
    private func failing(_ body: () throws(LogError) -> Void) throws(LogError) {
        do {
            try body()
        } catch {
            failure = error
            failed.call?(error)
            throw error
        }
    }

    private func append(_ frames: borrowing ByteWriter, head: UInt32) throws(LogError) {
        let (managed, position) = (file.managed, file.end)
        let bytes = frames.bytes
        try onDisk("writing the manifest") { () throws(DiskError) in
            try managed.file.write(bytes, at: position)
            try managed.file.synchronize(site: "manifest.edit")
        }
        try directory.presence.check()
        file.end += UInt64(bytes.count)
        file.head = head
    }

    /// A new, empty manifest file with reserved space, or nil: then the one in force keeps growing.
    private func tryToPrepare(_ state: ManifestState) -> Fresh? {
        do { return try prepare(state) } catch { return nil }
    }

    private func prepare(_ state: ManifestState) throws(LogError) -> Fresh {
        try Self.prepare(
            state, in: directory, replacing: (file.managed, file.head), epoch: state.origin?.epoch ?? 0)
    }

    private func rotate(to fresh: Fresh) throws(LogError) {
        let old = file.managed.path
        try fresh.write(in: directory)
        file = fresh.file
        current = fresh.state
        try Self.removeSuperseded([old], in: directory)
    }

    /// A manifest about to be written.
    private struct Fresh {
        /// The file's description after the write.
        let file: File
        let state: ManifestState
        let frames: [UInt8]

        /// Writes the manifest and makes it durable; after an error it may or may not be there.
        func write(in directory: StoreDirectory) throws(LogError) {
            let managed = file.managed
            managed.noteListed()
            try onDisk("writing a manifest") { () throws(DiskError) in
                try frames.withUnsafeBufferPointer { (bytes) throws(DiskError) in
                    try managed.file.write(UnsafeRawBufferPointer(bytes), at: UInt64(FileHeader.byteCount))
                }
                try managed.file.synchronize(site: "manifest.fresh")
            }
            try directory.synchronize(site: "manifest.directory")
        }
    }

    /// Creates the file of a new manifest and reserves the space that it needs.
    ///
    /// After an error there is at most a file with a header, which does not count as a manifest.
    private static func prepare(
        _ state: ManifestState, in directory: StoreDirectory, replacing predecessor: Predecessor?, epoch: UInt64
    ) throws(LogError) -> Fresh {
        let managed = try directory.create(.manifest)
        var fresh = state
        fresh.origin = ManifestOrigin(
            ordinal: (state.origin?.ordinal ?? 0) + 1, predecessor: predecessor?.managed.number ?? 0,
            predecessorHead: predecessor?.head ?? 0, epoch: epoch,
            nonce: TransactionID(high: directory.randomNumber(), low: directory.randomNumber()))
        fresh.nextFileNumber = max(fresh.nextFileNumber, directory.nextFileNumber)
        if !fresh.dropped.isEmpty {
            let names = try onDisk("listing the store's directory") { () throws(DiskError) in
                try directory.disk.names(in: directory.path)
            }
            fresh.dropped.formIntersection(names.compactMap(FileName.parse).map(\.number))
            // A removal seen here is made durable before the new manifest can be in force: otherwise a crash may bring
            // back a file that no manifest lists as dropped.
            if fresh.dropped != state.dropped { try directory.synchronize(site: "manifest.directory") }
        }
        var frames = ByteWriter(byteCapacity: 4_096)
        let start = UInt64(FileHeader.byteCount)
        let head = encode(
            fresh.edits, directory.progress, into: &frames, at: start, durable: 0, previousHead: 0, of: managed.header)
        let end = start + UInt64(frames.byteCount)
        var room = RoomAhead(from: start)
        try room.make(through: end + roomByteCount, in: managed.file)
        return Fresh(
            file: File(managed: managed, snapshotEnd: end, end: end, room: room, head: head), state: fresh,
            frames: frames.array())
    }

    /// Makes a manifest durable that an opening found and continues.
    ///
    /// The process that wrote it may have ended before that, and the files that it does not list are about to be
    /// removed.
    static func makeDurable(_ managed: ManagedFile, in directory: StoreDirectory) throws(LogError) {
        try onDisk("making a manifest durable") { () throws(DiskError) in
            try managed.file.synchronize(site: "manifest.fresh")
        }
        try directory.synchronize(site: "manifest.directory")
    }

    /// Removes superseded manifests.
    ///
    /// Durability: when this returns they cannot come back. Only then may the one in force get edits, or a segment that
    /// it alone lists get frames: otherwise, if it rotted, a stale manifest would be taken for the newest.
    static func removeSuperseded(_ paths: [String], in directory: StoreDirectory) throws(LogError) {
        guard !paths.isEmpty else { return }
        for path in paths {
            do throws(DiskError) {
                try directory.disk.remove(path)
            } catch {
                guard error.code == .notFound else { throw LogError(error, doing: "removing an old manifest") }
            }
        }
        try directory.synchronize(site: "manifest.removal")
    }

    /// Encodes edits that take effect together: one frame, or several if one cannot hold them.
    ///
    /// - Returns: headCRC of the last frame.
    private static func encode(
        _ edits: [ManifestEdit], _ progress: LogProgress, into frames: inout ByteWriter, at offset: UInt64,
        durable: UInt64, previousHead: UInt32, of file: FileHeader
    ) -> UInt32 {
        var head = previousHead
        var part: UInt32 = 0
        var rest = edits[...]
        repeat {
            let group = rest.prefix(Limits.frameRecordCountMax)
            rest = rest.dropFirst(group.count)
            let header = FrameHeader(
                kind: .edit, bodyByteCount: 0, headersCRC: 0, recordCount: group.count,
                flags: rest.isEmpty ? 0 : FrameHeader.flagContinued, sequence: progress.durable, durable: durable,
                previousHead: head, part: part, spill: progress.acknowledged)
            head = encode(group, header, into: &frames, at: offset + UInt64(frames.byteCount), of: file)
            part += 1
        } while !rest.isEmpty
        return head
    }

    /// Encodes one frame, whose header lacks the sizes and checksums.
    private static func encode(
        _ edits: ArraySlice<ManifestEdit>, _ header: FrameHeader, into frames: inout ByteWriter, at offset: UInt64,
        of file: FileHeader
    ) -> UInt32 {
        let frameStart = frames.byteCount
        frames.appendZeros(FrameHeader.byteCount)
        var headersCRC: UInt32 = 0
        let fileBinding = file.recordBinding
        for edit in edits {
            let start = frames.byteCount
            frames.appendZeros(RecordHeader.byteCount)
            edit.write(to: &frames)
            let stored = frames.byteCount - start - RecordHeader.byteCount
            frames.align(to: 8)
            guard let record = frames.mutableBytes.baseAddress.map({ $0 + start }) else { continue }
            RecordHeader.write(
                to: record, storedByteCount: stored, rawByteCount: stored, table: 0, layout: edit.kind, id: 0,
                operation: .edit, flags: [])
            let place = (offset + UInt64(start - frameStart)) >> 3
            RecordHeader.seal(
                record, frames.byteCount - start, binding: fileBinding ^ UInt32(truncatingIfNeeded: place))
            headersCRC = CRC32C.checksum(record, RecordHeader.byteCount, seed: headersCRC)
        }
        var header = header
        header.bodyByteCount = frames.byteCount - frameStart - FrameHeader.byteCount
        header.headersCRC = headersCRC
        guard let start = frames.mutableBytes.baseAddress else { return 0 }
        return header.write(to: start + frameStart, at: offset, of: file)
    }
}
