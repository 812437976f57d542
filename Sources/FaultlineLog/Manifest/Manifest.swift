import FaultlineDisk

/// The durable list of files that count, open for edits.
///
/// Each call of `commit` is one group of frames, synchronized before it returns. After a failed write the file gets no further
/// bytes: a fresh manifest takes its place, and if that fails too, the error stands.
///
/// Concurrency: guarded by its lock, which is held across the write; lock order: writer's turn, leadership, this.
// Safe because mutable state is guarded by the lock.
package final class Manifest: @unchecked Sendable {
    private let directory: StoreDirectory
    private let rotation: Rotation
    private let lock = EngineLock()
    private var managed: ManagedFile
    private var snapshotEnd: UInt64
    private var end: UInt64
    private var previousHead: UInt32
    private var current: ManifestState
    private var failure: LogError?
    /// Called once, with the error after which nothing is known about the newest edit.
    private let failed: Failed

    /// Hears of a failure.
    // Safe because it is set before the manifest is shared.
    final class Failed: @unchecked Sendable {
        var call: (@Sendable (LogError) -> Void)?
    }

    /// When a fresh manifest takes the place of one: its snapshot counts too, so that a large one is not written for
    /// every edit.
    package struct Rotation: Sendable {
        /// At so many bytes at the earliest.
        let byteCount: Int
        /// At so many times its snapshot at the earliest.
        let growth: Int

        package init(_ options: LogOptions) {
            byteCount = options.manifestByteCount
            growth = options.manifestGrowth
        }

        func isDue(snapshotEnd: UInt64, end: UInt64) -> Bool {
            end >= UInt64(byteCount) && end / UInt64(max(growth, 1)) >= snapshotEnd
        }
    }

    /// A manifest that another takes the place of, and headCRC of its last frame.
    package typealias Predecessor = (managed: ManagedFile, head: UInt32)

    /// Writes a fresh manifest, whose snapshot holds the whole state, and makes it the one in force.
    ///
    /// It takes the place of `predecessor`. That one and the manifests at the paths `superseded` are gone for good when
    /// this returns.
    package init(
        _ state: ManifestState, in directory: StoreDirectory, rotation: Rotation, replacing predecessor: Predecessor?,
        superseded: [String] = []
    ) throws(LogError) {
        self.directory = directory
        self.rotation = rotation
        failed = Failed()
        (managed, end, previousHead, current) = try Self.writeFresh(
            state, in: directory, replacing: predecessor, epoch: (state.origin?.epoch ?? 0) + 1)
        snapshotEnd = end
        try Self.removeSuperseded((predecessor.map { [$0.managed.path] } ?? []) + superseded, in: directory)
    }

    /// Goes on with a manifest that was closed cleanly.
    init(
        continuing reading: ManifestReader.Reading, in directory: StoreDirectory, rotation: Rotation
    ) {
        self.directory = directory
        self.rotation = rotation
        failed = Failed()
        managed = reading.managed
        snapshotEnd = reading.snapshotEnd
        end = reading.end
        previousHead = reading.previousHead
        current = reading.state
    }

    /// What the manifest says now.
    package var state: ManifestState { lock.withLock { current } }

    /// Bytes of the manifest.
    package var byteCount: UInt64 { lock.withLock { end } }

    /// Sets what is called when an edit may or may not be durable; to be called once, before the first edit.
    func onFailure(_ call: @escaping @Sendable (LogError) -> Void) { failed.call = call }

    /// Makes edits durable, all or none.
    ///
    /// After an error nothing more can be committed, because nobody knows whether the edits are there.
    package func commit(_ edits: [ManifestEdit]) throws(LogError) {
        lock.lock()
        defer { lock.unlock() }
        if let failure { throw failure }
        var next = current
        for edit in edits {
            guard next.apply(edit) else {
                throw LogError(.damaged, "The manifest refuses the edit \(edit).", path: managed.path)
            }
        }
        next.nextFileNumber = max(next.nextFileNumber, directory.nextFileNumber)
        do {
            if !rotation.isDue(snapshotEnd: snapshotEnd, end: end) {
                if tryToAppend(edits) {
                    current = next
                    return
                }
                // The frames may or may not be there; a newer manifest settles it.
            }
            try rotate(to: next)
        } catch {
            failure = error
            failed.call?(error)
            throw error
        }
    }

    private func tryToAppend(_ edits: [ManifestEdit]) -> Bool {
        do {
            try append(edits)
            return true
        } catch {
            return false
        }
    }

    private func append(_ edits: [ManifestEdit]) throws(LogError) {
        var frames = ByteWriter(byteCapacity: 4_096)
        let head = Self.encode(
            edits, into: &frames, at: end, durable: end, previousHead: previousHead, of: managed.header)
        let position = end
        try onDisk("writing the manifest") { () throws(DiskError) in
            try managed.file.write(frames.bytes, at: position)
            try managed.file.synchronize(site: "manifest.edit")
        }
        end += UInt64(frames.byteCount)
        previousHead = head
    }

    private func rotate(to state: ManifestState) throws(LogError) {
        let old = managed.path
        let fresh = try Self.writeFresh(
            state, in: directory, replacing: (managed, previousHead), epoch: state.origin?.epoch ?? 0)
        managed = fresh.0
        snapshotEnd = fresh.1
        end = fresh.1
        previousHead = fresh.2
        current = fresh.3
        try Self.removeSuperseded([old], in: directory)
    }

    private static func writeFresh(
        _ state: ManifestState, in directory: StoreDirectory, replacing predecessor: Predecessor?, epoch: UInt64
    ) throws(LogError) -> (ManagedFile, UInt64, UInt32, ManifestState) {
        let managed = try directory.create(.manifest)
        managed.noteListed()
        var fresh = state
        fresh.origin = ManifestOrigin(
            ordinal: (state.origin?.ordinal ?? 0) + 1, predecessor: predecessor?.managed.number ?? 0,
            predecessorHead: predecessor?.head ?? 0, epoch: epoch,
            nonce: TransactionID(high: directory.randomNumber(), low: directory.randomNumber()))
        fresh.nextFileNumber = max(fresh.nextFileNumber, directory.nextFileNumber)
        if !fresh.dropped.isEmpty {
            // A removal that is seen here is made durable below, before the fresh manifest can be in force.
            let names = try onDisk("listing the store's directory") { () throws(DiskError) in
                try directory.disk.names(in: directory.path)
            }
            fresh.dropped.formIntersection(names.compactMap(FileName.parse).map(\.number))
        }
        var frames = ByteWriter(byteCapacity: 4_096)
        let start = UInt64(FileHeader.byteCount)
        let head = encode(fresh.edits, into: &frames, at: start, durable: 0, previousHead: 0, of: managed.header)
        try onDisk("writing a manifest") { () throws(DiskError) in
            try managed.file.write(frames.bytes, at: start)
            try managed.file.synchronize(site: "manifest.fresh")
        }
        try directory.synchronize(site: "manifest.directory")
        return (managed, start + UInt64(frames.byteCount), head, fresh)
    }

    /// Removes manifests that another has taken the place of.
    ///
    /// Durability: when this returns they cannot come back. Only then may the one in force take edits, or a segment
    /// that it alone lists take frames: else, should it rot, a stale one would be taken for the truth.
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

    /// Encodes edits that take effect together: one frame, or several where one cannot hold them.
    ///
    /// - Returns: headCRC of the last frame.
    private static func encode(
        _ edits: [ManifestEdit], into frames: inout ByteWriter, at offset: UInt64, durable: UInt64,
        previousHead: UInt32, of file: FileHeader
    ) -> UInt32 {
        var head = previousHead
        var part: UInt32 = 0
        var rest = edits[...]
        repeat {
            let group = rest.prefix(Limits.frameRecordCountMax)
            rest = rest.dropFirst(group.count)
            let header = FrameHeader(
                kind: .edit, bodyByteCount: 0, headersCRC: 0, recordCount: group.count,
                flags: rest.isEmpty ? 0 : FrameHeader.flagContinued, durable: durable, previousHead: head, part: part)
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
