internal import FaultlineDisk
internal import FaultlineLog

/// The segments of a store that a process may be writing, opened for a copy.
struct OpenSegments {
    /// An open segment.
    struct Segment {
        let name: String
        let file: DiskFile
        /// The end of the bytes that did not change any more when the segment was opened.
        let end: UInt64
        /// The file of a segment that has frames: it closes the file at its own end.
        fileprivate let frames: ManagedFile?
    }

    private let store: String
    private let disk: Disk
    private(set) var all: [Segment] = []

    init(of store: String, on disk: Disk) { (self.store, self.disk) = (store, disk) }

    /// Opens the segments of a manifest that are not sealed, and finds their ends: those of frames before those of the
    /// values that they place.
    ///
    /// - Throws: If one is missing or is not readable.
    mutating func open(_ state: ManifestState, in directory: StoreDirectory) throws(LogError) {
        let files = state.files.sorted { $0.key < $1.key }
        // Records move to cold segments after their transactions, and values are written before theirs.
        for kind in [FileKind.coldSegment, .hotSegment, .blobSegment] {
            for (number, entry) in files where entry.seal == nil && entry.kind == kind {
                let name = FileName.numbered(kind, number)
                let file = try onDisk("opening a segment") { () throws(DiskError) in
                    try disk.open(store + "/" + name, for: .reading)
                }
                do throws(LogError) {
                    let length = try onDisk("measuring a segment") { () throws(DiskError) in try file.byteCount() }
                    // Space behind the frames is reserved: later ones may come before the length.
                    let frames =
                        kind == .blobSegment
                        ? nil : directory.managed(file, try StoreDirectory.readHeader(of: file))
                    let end = try frames.map { (frames) throws(LogError) in
                        try SegmentEnd.find(in: frames, entry, length: length)
                    }
                    all.append(Segment(name: name, file: file, end: end ?? length, frames: frames))
                } catch {
                    file.close()
                    throw error
                }
            }
        }
    }

    /// Closes the segments.
    mutating func close() {
        for segment in all where segment.frames == nil { segment.file.close() }
        all.removeAll()
    }
}
