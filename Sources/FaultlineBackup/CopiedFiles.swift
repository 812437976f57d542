internal import FaultlineDisk
internal import FaultlineLog

/// Copies the files of a store into a set of backups: those that earlier backups have only as far as they grew.
struct CopiedFiles: ~Copyable {
    /// The files of a backup.
    struct Lists {
        let manifest: BackupFile
        let identity: BackupFile
        let files: [BackupFile]
    }

    private let source: CopiedState
    private let set: BackupSet
    private let number: Int
    private let items: [Item]
    /// Bytes that the backup adds to the directory, but for the manifest and the identity.
    let missingByteCount: UInt64
    /// The newest copies of blob segments that were in use.
    private let open: [String: (path: String, byteCount: UInt64)]
    private var bytes: CopiedBytes
    private var check: SegmentCheck
    private(set) var copiedFileCount = 0

    var copiedByteCount: UInt64 { bytes.byteCount }

    /// The bytes at the end of a known part that are compared with the store's.
    private static let comparedByteCount: UInt64 = 64 << 10

    init(
        _ source: CopiedState, to set: BackupSet, number: Int, _ earlier: [BackupRecord],
        _ bytes: consuming CopiedBytes
    ) throws(LogError) {
        self.source = source
        self.set = set
        self.number = number
        var known: [String: BackupFile] = [:]
        var open: [String: (path: String, byteCount: UInt64)] = [:]
        for record in earlier {
            for file in record.files {
                if file.isShared {
                    known[file.name] = file
                } else {
                    open[file.name] = (set.path(of: file, in: record), file.byteCount)
                }
            }
        }
        self.open = open
        items = try Self.items(of: source, known)
        missingByteCount = items.reduce(0) { $0 + $1.missingByteCount }
        self.bytes = bytes
        self.bytes.total = missingByteCount
        // Values that follow each other in the log mostly lie in one segment.
        var opened: ManagedFile?
        check = SegmentCheck { (number) throws(LogError) in
            if let opened, opened.number == number { return opened }
            guard let entry = source.state.files[number], entry.kind == .blobSegment else { return nil }
            opened = try source.directory.open(entry, for: .reading)
            return opened
        }
    }

    /// A file to be copied.
    private struct Item {
        let name: String
        let entry: ManifestState.FileEntry
        /// The end of its bytes.
        let end: UInt64
        /// The part that an earlier backup has.
        let known: BackupFile?
        /// Whether its bytes never change: that of a large value being written may.
        var isShared: Bool { entry.seal != nil || entry.kind != .blobSegment }
        var missingByteCount: UInt64 { end - min(isShared ? known?.byteCount ?? 0 : 0, end) }
    }

    private static func items(
        of source: CopiedState, _ known: [String: BackupFile]
    ) throws(LogError) -> [Item] {
        var items: [Item] = []
        for (number, entry) in source.state.files.sorted(by: { $0.key < $1.key }) {
            let name = FileName.numbered(entry.kind, number)
            let length = try source.byteCount(of: name)
            let isLog = entry.kind == .hotSegment || entry.kind == .coldSegment
            let end = isLog ? entry.seal?.end ?? length : min(length, entry.seal?.end ?? length)
            items.append(Item(name: name, entry: entry, end: end, known: known[name]))
        }
        return items
    }

    /// Copies all files, durably.
    mutating func copyAll() throws -> Lists {
        var files: [BackupFile] = []
        for item in items { files.append(try copy(item)) }
        return Lists(
            manifest: try copyOwn(source.manifest), identity: try copyOwn(FileName.identity), files: files)
    }

    /// Copies a file that each backup has for itself.
    private mutating func copyOwn(_ name: String) throws -> BackupFile {
        let path = source.path + "/" + name
        let length = try source.byteCount(of: name)
        let checksum = try bytes.copy(path, 0..<length, to: set.folder(of: number) + "/" + name)
        return BackupFile(name: name, byteCount: length, checksum: checksum, head: 0, isShared: false)
    }

    private mutating func copy(_ item: Item) throws -> BackupFile {
        let path = source.path + "/" + item.name
        guard item.isShared else {
            let target = set.folder(of: number) + "/" + item.name
            copiedFileCount += 1
            let checksum = try bytes.copy(path, 0..<item.end, to: target, like: open[item.name])
            return file(item, checksum, head: 0, isShared: false)
        }
        let target = set.sharedDirectory + "/" + item.name
        guard let known = item.known else {
            let head = try verify(item, from: UInt64(FileHeader.byteCount), head: 0)
            // An interrupted backup may have left a part of it.
            try onDisk("removing the remains of a backup") { () throws(DiskError) in
                if try set.disk.isPresent(target) { try set.disk.remove(target) }
            }
            copiedFileCount += 1
            let checksum = try bytes.copy(path, 0..<item.end, to: target, like: open[item.name])
            return file(item, checksum, head: head, isShared: true)
        }
        try refuseDifference(path, target, until: min(known.byteCount, item.end))
        if item.end == known.byteCount { return known }
        guard item.end > known.byteCount else {
            guard item.entry.seal != nil else {
                throw BackupError(
                    .damaged,
                    "The log ends at byte \(item.end) of a segment that had \(known.byteCount) bytes at an earlier backup, so no backup was made. Verify the store, and restore it from an earlier backup, or repair it.",
                    path: path)
            }
            // It was sealed before the end that it had.
            let checksum = try bytes.checksum(of: target, byteCount: item.end)
            return file(item, checksum, head: item.entry.durableHead, isShared: true)
        }
        let head = try verify(item, from: known.byteCount, head: known.head)
        copiedFileCount += 1
        let checksum = try bytes.copy(path, known.byteCount..<item.end, to: target, checksum: known.checksum)
        return file(item, checksum, head: head, isShared: true)
    }

    private func file(_ item: Item, _ checksum: UInt32, head: UInt32, isShared: Bool) -> BackupFile {
        BackupFile(name: item.name, byteCount: item.end, checksum: checksum, head: head, isShared: isShared)
    }

    /// Verifies the new frames of a hot or cold segment, and the large values that they place.
    ///
    /// Tables and indexes are not verified here: an opening builds those anew that do not verify.
    private mutating func verify(_ item: Item, from offset: UInt64, head: UInt32) throws(LogError) -> UInt32 {
        guard item.entry.kind == .hotSegment || item.entry.kind == .coldSegment else { return 0 }
        let managed = try source.directory.open(item.entry, for: .reading)
        return try check.check(managed, from: offset, head: head, to: item.end)
    }

    /// Refuses a file that is not the one in the earlier backups, by its beginning and by the end of the known part.
    private func refuseDifference(_ path: String, _ target: String, until end: UInt64) throws {
        let start = min(UInt64(FileHeader.byteCount), end)
        let last = end - min(end, Self.comparedByteCount)
        guard try bytes.areEqual(path, target, in: 0..<start), try bytes.areEqual(path, target, in: last..<end) else {
            throw BackupError(
                .otherStore,
                "A file differs from the one in the backups: the store is another copy of theirs, or the backup was damaged. Choose another directory.",
                path: target)
        }
    }
}
