import FaultlineDisk

/// Writes the pages of a checkpoint file in order, then the page map and the footer.
struct PageFileWriter: ~Copyable {
    private static let stagedPageCount = 256
    private static let stageByteCount = stagedPageCount * TablePage.byteCount

    let managed: ManagedFile
    private let stage: UnsafeMutableRawPointer
    private var staged = 0
    private var written = 0

    init(_ managed: ManagedFile) {
        self.managed = managed
        stage = BufferMemory.allocate(byteCount: Self.stageByteCount)
    }

    deinit {
        BufferMemory.deallocate(stage, byteCount: Self.stageByteCount)
    }

    /// Adds a page.
    ///
    /// - Returns: Its index in the file, and the number of its objects.
    mutating func append(
        _ handle: PageHandlePointer, _ place: PageCache.StoredPlace?, of cache: PageCache
    ) throws(LogError) -> (index: UInt32, entryCount: UInt16) {
        let target = stage + staged * TablePage.byteCount
        try cache.copyWithoutLoading(handle, place, to: target)
        let index = UInt32(written + staged)
        TablePage.seal(target, seed: managed.header.seed(at: TablePage.offset(ofIndex: index)))
        let entryCount = target[TablePage.Fields.count]
        staged += 1
        if staged == Self.stagedPageCount { try flush() }
        return (index, entryCount)
    }

    private mutating func flush() throws(LogError) {
        guard staged > 0 else { return }
        let bytes = UnsafeRawBufferPointer(start: stage, count: staged * TablePage.byteCount)
        let offset = UInt64((written + 1) * TablePage.byteCount)
        try onDisk("writing table pages") { () throws(DiskError) in try managed.file.write(bytes, at: offset) }
        written += staged
        staged = 0
    }

    /// Writes map and footer and synchronizes the file.
    ///
    /// The caller must synchronize its entry in the directory.
    consuming func finish(map: inout ByteWriter, sequence: UInt64, site: SyncSite) throws(LogError) -> PageFile {
        try flush()
        let mapOffset = UInt64((written + 1) * TablePage.byteCount)
        let footer = CheckpointFooter(
            mapOffset: mapOffset, mapEntryCount: UInt64(map.byteCount / CheckpointFooter.MapEntry.byteCount),
            mapCRC: CRC32C.checksum(map.bytes, seed: managed.header.seed(at: mapOffset)), pageCount: UInt32(written),
            sequence: sequence)
        let mapByteCount = map.byteCount
        map.appendZeros(CheckpointFooter.byteCount)
        if let start = map.mutableBytes.baseAddress {
            footer.write(
                to: start + mapByteCount, seed: managed.header.seed(at: mapOffset + UInt64(mapByteCount)))
        }
        try onDisk("writing table pages") { () throws(DiskError) in
            try managed.file.write(map.bytes, at: mapOffset)
            try managed.file.synchronize(site: site)
        }
        return PageFile(managed, pageCount: written)
    }
}

/// A checkpoint file from which pages are read.
///
/// Page handles that name the file hold it. When the manifest no longer lists it and the last handle is gone, the file
/// is removed (`ManagedFile`).
// Safe because the stored properties are immutable.
package final class PageFile: Sendable {
    package let managed: ManagedFile
    /// Pages in the file, listed or not.
    let pageCount: Int
    var number: UInt64 { managed.number }

    init(_ managed: ManagedFile, pageCount: Int) {
        self.managed = managed
        self.pageCount = pageCount
    }
}
