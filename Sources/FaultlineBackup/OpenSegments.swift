internal import FaultlineDisk
internal import FaultlineLog

/// The segments of a store that a process may be writing, opened for a copy.
struct OpenSegments {
    /// An open segment.
    struct Segment {
        let name: String
        let file: DiskFile
        fileprivate let entry: ManifestState.FileEntry
        fileprivate let length: UInt64
        /// The file of a segment that has frames: it closes the file at its own end.
        fileprivate let frames: ManagedFile?

        /// The end of the bytes that do not change any more, at the time when the segment was opened.
        ///
        /// - Throws: As `SegmentEnd.find`.
        func end() throws(LogError) -> UInt64 {
            guard let frames else { return length }
            return try SegmentEnd.find(in: frames, entry, length: length)
        }
    }

    private let store: String
    private let disk: Disk
    private(set) var all: [Segment] = []

    init(of store: String, on disk: Disk) { (self.store, self.disk) = (store, disk) }

    /// Opens the segments of a manifest that are not sealed, and notes their lengths.
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
                    let frames =
                        kind == .blobSegment
                        ? nil : directory.managed(file, try StoreDirectory.readHeader(of: file))
                    all.append(Segment(name: name, file: file, entry: entry, length: length, frames: frames))
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
