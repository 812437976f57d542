import FaultlineDisk

/// The durable list of files that count, open for edits.
///
/// Each call of `commit` is one frame, synchronized before it returns. After a failed write the file gets no further
/// bytes: a fresh manifest takes its place, and if that fails too, the error stands.
///
/// Concurrency: guarded by its lock, which is held across the write; lock order: writer's turn, leadership, this.
// Safe because mutable state is guarded by the lock.
final class Manifest: @unchecked Sendable {
    private let directory: StoreDirectory
    private let rotationByteCount: Int
    private let lock = EngineLock()
    private var managed: ManagedFile
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

    /// Writes a fresh manifest, whose first frame holds the whole state, and makes it the one in force.
    ///
    /// After `rotationByteCount` bytes another fresh one follows. The manifests at the paths `replacing`, whose place it
    /// takes, are gone for good when this returns.
    init(
        _ state: ManifestState, in directory: StoreDirectory, rotationByteCount: Int, replacing old: [String]
    ) throws(LogError) {
        self.directory = directory
        self.rotationByteCount = rotationByteCount
        failed = Failed()
        (managed, end, previousHead, current) = try Self.writeFresh(state, in: directory)
        try Self.removeSuperseded(old, in: directory)
    }

    /// Goes on with a manifest that was closed cleanly.
    init(
        continuing managed: ManagedFile, end: UInt64, previousHead: UInt32, state: ManifestState,
        in directory: StoreDirectory,
        rotationByteCount: Int
    ) {
        self.directory = directory
        self.rotationByteCount = rotationByteCount
        failed = Failed()
        self.managed = managed
        self.end = end
        self.previousHead = previousHead
        current = state
    }

    /// What the manifest says now.
    var state: ManifestState { lock.withLock { current } }

    /// Bytes of the manifest.
    var byteCount: UInt64 { lock.withLock { end } }

    /// Sets what is called when an edit may or may not be durable; to be called once, before the first edit.
    func onFailure(_ call: @escaping @Sendable (LogError) -> Void) { failed.call = call }

    /// Makes edits durable, all or none.
    ///
    /// After an error nothing more can be committed, because nobody knows whether the edits are there.
    func commit(_ edits: [ManifestEdit]) throws(LogError) {
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
            if end < UInt64(rotationByteCount) {
                if tryToAppend(edits) {
                    current = next
                    return
                }
                // The frame may or may not be there; a newer manifest settles it.
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
        var frame = ByteWriter(byteCapacity: 4_096)
        let head = Self.encode(
            edits, into: &frame, at: end, durable: end, previousHead: previousHead, of: managed.header)
        let position = end
        try onDisk("writing the manifest") { () throws(DiskError) in
            try managed.file.write(frame.bytes, at: position)
            try managed.file.synchronize(site: "manifest.edit")
        }
        end += UInt64(frame.byteCount)
        previousHead = head
    }

    private func rotate(to state: ManifestState) throws(LogError) {
        let old = managed.path
        let fresh = try Self.writeFresh(state, in: directory)
        managed = fresh.0
        end = fresh.1
        previousHead = fresh.2
        current = fresh.3
        try Self.removeSuperseded([old], in: directory)
    }

    private static func writeFresh(
        _ state: ManifestState, in directory: StoreDirectory
    ) throws(LogError) -> (ManagedFile, UInt64, UInt32, ManifestState) {
        let managed = try directory.create(.manifest)
        managed.noteListed()
        var fresh = state
        fresh.nextFileNumber = max(fresh.nextFileNumber, directory.nextFileNumber)
        if !fresh.dropped.isEmpty {
            // A removal that is seen here is made durable below, before the fresh manifest can be in force.
            let names = try onDisk("listing the store's directory") { () throws(DiskError) in
                try directory.disk.names(in: directory.path)
            }
            fresh.dropped.formIntersection(names.compactMap(FileName.parse).map(\.number))
        }
        var frame = ByteWriter(byteCapacity: 4_096)
        let start = UInt64(FileHeader.byteCount)
        let head = encode(fresh.edits, into: &frame, at: start, durable: 0, previousHead: 0, of: managed.header)
        try onDisk("writing a manifest") { () throws(DiskError) in
            try managed.file.write(frame.bytes, at: start)
            try managed.file.synchronize(site: "manifest.fresh")
        }
        try directory.synchronize(site: "manifest.directory")
        return (managed, start + UInt64(frame.byteCount), head, fresh)
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

    /// Encodes one frame of edits.
    ///
    /// - Returns: headCRC.
    static func encode(
        _ edits: [ManifestEdit], into frame: inout ByteWriter, at offset: UInt64, durable: UInt64, previousHead: UInt32,
        of file: FileHeader
    ) -> UInt32 {
        frame.appendZeros(FrameHeader.byteCount)
        var headersCRC: UInt32 = 0
        let fileBinding = file.recordBinding
        for edit in edits {
            let start = frame.byteCount
            frame.appendZeros(RecordHeader.byteCount)
            edit.write(to: &frame)
            let stored = frame.byteCount - start - RecordHeader.byteCount
            frame.align(to: 8)
            guard let record = frame.mutableBytes.baseAddress.map({ $0 + start }) else { continue }
            RecordHeader.write(
                to: record, storedByteCount: stored, rawByteCount: stored, table: 0, layout: edit.kind, id: 0,
                operation: .edit,
                flags: [])
            let place = (offset + UInt64(start)) >> 3
            RecordHeader.seal(record, frame.byteCount - start, binding: fileBinding ^ UInt32(truncatingIfNeeded: place))
            headersCRC = CRC32C.checksum(record, RecordHeader.byteCount, seed: headersCRC)
        }
        let header = FrameHeader(
            kind: .edit, bodyByteCount: frame.byteCount - FrameHeader.byteCount, headersCRC: headersCRC,
            recordCount: edits.count,
            durable: durable, previousHead: previousHead)
        guard let start = frame.mutableBytes.baseAddress else { return 0 }
        return header.write(to: start, at: offset, of: file)
    }
}
