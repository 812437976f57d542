import FaultlineDisk

/// Tells a log that is open for reading whether the writer of another process has written more.
///
/// Reads the end of the manifest that was in force, and the frames behind those that were replayed: two or three calls
/// of the disk while nothing changes. Frames count once a later one says that a sync has covered them.
///
/// Concurrency: guarded by its lock, under which the log opens its state again.
// Safe because mutable state is guarded by the lock.
final class Follower: @unchecked Sendable {
    private let lock = EngineLock()
    private var manifest: ManifestMark?
    private var segment: ManagedFile
    /// The end of the examined frames, and the headCRC of the last one.
    private var place: (offset: UInt64, head: UInt32)
    /// The end of the replayed frames.
    private var end: UInt64

    /// A manifest and its length at one time.
    struct ManifestMark {
        fileprivate let managed: ManagedFile
        fileprivate let byteCount: UInt64

        /// The manifest that was read; nil if it has grown since.
        init?(_ reading: ManifestReader.Reading) throws(LogError) {
            managed = reading.managed
            byteCount = try Self.byteCount(of: managed)
            // Behind a whole manifest there are only bytes written in the meantime.
            if reading.isWhole, byteCount != reading.end { return nil }
        }

        private static func byteCount(of managed: ManagedFile) throws(LogError) -> UInt64 {
            try onDisk("looking at the manifest") { () throws(DiskError) in try managed.file.byteCount() }
        }

        fileprivate func isInForce(on disk: Disk) throws(LogError) -> Bool {
            let path = managed.path
            let isPresent = try onDisk("looking at the manifest") { () throws(DiskError) in try disk.isPresent(path) }
            guard isPresent else { return false }
            return try Self.byteCount(of: managed) == byteCount
        }
    }

    /// Begins with an opened state.
    init(_ opened: Opening.Opened) {
        manifest = opened.mark
        segment = opened.segment
        place = (opened.end, opened.head)
        end = opened.end
    }

    /// Opens the state again if there is more to see.
    ///
    /// - Parameters:
    ///   - directory: The store's directory.
    ///   - open: Opens the state, and makes it the newest one.
    /// - Throws: Disk errors and those of `open`; the next call tries again.
    func follow(
        in directory: StoreDirectory, _ open: () throws(LogError) -> Opening.Opened
    ) throws(LogError) {
        lock.lock()
        defer { lock.unlock() }
        let isTheSame = try manifest?.isInForce(on: directory.disk) ?? false
        if isTheSame, try !hasMoreFrames() { return }
        let opened = try open()
        manifest = opened.mark
        segment = opened.segment
        place = (opened.end, opened.head)
        end = opened.end
    }

    /// Whether a sync is known to have covered frames that were not replayed.
    private func hasMoreFrames() throws(LogError) -> Bool {
        let length = try onDisk("reading a segment") { () throws(DiskError) in try segment.file.byteCount() }
        guard length >= place.offset + UInt64(FrameHeader.byteCount), try isFrame(at: place) else { return false }
        var scanner = FrameScanner(segment, from: place.offset, previousHead: place.head, limit: length)
        while try scanner.next() != nil {}
        place = (scanner.offset, scanner.previousHead)
        return scanner.durable > end
    }

    /// Whether a frame begins behind the examined ones: costs one small read, as there is usually none.
    private func isFrame(at place: (offset: UInt64, head: UInt32)) throws(LogError) -> Bool {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: FrameHeader.byteCount, alignment: 8)
        defer { bytes.deallocate() }
        let count = try onDisk("reading a segment") { () throws(DiskError) in
            try segment.file.read(into: bytes, at: place.offset)
        }
        guard count == bytes.count, let start = bytes.baseAddress,
            let header = FrameHeader(reading: UnsafeRawPointer(start), at: place.offset, of: segment.header)
        else { return false }
        return header.previousHead == place.head
    }
}
