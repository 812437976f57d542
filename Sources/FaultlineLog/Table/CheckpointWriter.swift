import FaultlineDisk

/// Writes a checkpoint file: the pages that are in no file, and the map of all pages.
///
/// Pages of files that are more than half dead, or of the smallest files if there are many, are rewritten, so that
/// their files can be removed.
struct CheckpointWriter {
    /// The number of files above which some are merged.
    private static let fileCountMax = 12

    struct Result {
        let file: PageFile
        /// The pages that became clean, and their indices in the file.
        let stored: [(handle: PageHandlePointer, index: UInt32)]
        /// The other files with listed pages.
        let needed: [UInt64: PageFile]
    }

    let tables: TableSet
    let cache: PageCache

    /// Writes the file and synchronizes it.
    ///
    /// The caller must synchronize its entry in the directory.
    func write(to managed: ManagedFile, sequence: UInt64) throws(LogError) -> Result {
        let rewritten = filesToRewrite()
        var stored: [(handle: PageHandlePointer, index: UInt32)] = []
        var map = ByteWriter(byteCapacity: 65_536)
        var needed: [UInt64: PageFile] = [:]
        var pages = PageFileWriter(managed)
        for root in tables.all {
            for page in 0..<root.pageCount {
                guard let handle = root.handle(ofPage: page) else { continue }
                let place = cache.storedPlace(handle)
                map.append(UInt32(page))
                map.append(root.table)
                if let place, !rewritten.contains(place.file.number) {
                    needed[place.file.number] = place.file
                    map.append(place.entryCount)
                    map.append(UInt32(truncatingIfNeeded: place.file.number))
                    map.append(place.index)
                } else {
                    let (index, entryCount) = try pages.append(handle, place, of: cache)
                    stored.append((handle, index))
                    map.append(entryCount)
                    map.append(UInt32(truncatingIfNeeded: managed.number))
                    map.append(index)
                }
            }
        }
        let file = try pages.finish(map: &map, sequence: sequence, site: "checkpoint.content")
        return Result(file: file, stored: stored, needed: needed)
    }

    private func filesToRewrite() -> Set<UInt64> {
        var live: [UInt64: (count: Int, pageCount: Int)] = [:]
        var damaged: Set<UInt64> = []
        for root in tables.all {
            for page in 0..<root.pageCount {
                if let handle = root.handle(ofPage: page), let place = cache.storedPlace(handle) {
                    live[place.file.number, default: (0, place.file.pageCount)].count += 1
                    if place.file.managed.isDamaged { damaged.insert(place.file.number) }
                }
            }
        }
        // Damaged pages cannot be rewritten.
        for number in damaged { live[number] = nil }
        var rewritten = Set(live.filter { $0.value.count * 2 < $0.value.pageCount }.keys)
        let kept = live.filter { !rewritten.contains($0.key) }.sorted {
            ($0.value.count, $0.key) < ($1.value.count, $1.key)
        }
        if kept.count >= Self.fileCountMax {
            for (number, _) in kept.prefix(kept.count - Self.fileCountMax / 2) { rewritten.insert(number) }
        }
        return rewritten
    }
}
