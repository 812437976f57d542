import FaultlineDisk

/// Rebuilds the tables' directories from a checkpoint's page map; pages are read on first use.
enum CheckpointReader {
    /// Reads the checkpoint's tables into `tables`, unless it does not verify.
    ///
    /// - Parameters:
    ///   - newest: The checkpoint to read.
    ///   - files: The checkpoint files that the manifest lists, by the low 32 bits of their number.
    ///   - tables: Gets the pages; unusable if this returns false.
    /// - Returns: False if the checkpoint does not verify: then the tables are rebuilt from the segments.
    /// - Throws: Disk errors.
    static func read(
        _ newest: PageFile, files: [UInt32: PageFile], into tables: inout WorkingTables
    ) throws(LogError) -> Bool {
        let managed = newest.managed
        let length = try onDisk("reading a checkpoint") { () throws(DiskError) in try managed.file.byteCount() }
        guard length >= UInt64(TablePage.byteCount + CheckpointFooter.byteCount) else { return false }
        guard let footer = try readFooter(managed, length: length), footer.mapOffset >= UInt64(TablePage.byteCount)
        else { return false }
        let (mapByteCount, overflows) = footer.mapEntryCount.multipliedReportingOverflow(
            by: UInt64(CheckpointFooter.MapEntry.byteCount))
        guard !overflows, mapByteCount <= length,
            footer.mapOffset == length - UInt64(CheckpointFooter.byteCount) - mapByteCount
        else { return false }

        let map = BufferMemory.allocateBuffer(byteCount: Int(mapByteCount) + 16)
        defer { BufferMemory.deallocate(map) }
        let part = UnsafeMutableRawBufferPointer(rebasing: map[0..<Int(mapByteCount)])
        try managed.read(into: part, at: footer.mapOffset, "reading a checkpoint's page map")
        guard let start = UnsafeRawPointer(map.baseAddress),
            CRC32C.checksum(start, part.count, seed: managed.header.seed(at: footer.mapOffset)) == footer.mapCRC
        else { return false }

        var previous: UInt64?
        // Neighbours in the map mostly have the same table and file.
        var root: TableRoot?
        var file: (key: UInt32, file: PageFile) = (UInt32(truncatingIfNeeded: newest.number), newest)
        for index in 0..<Int(footer.mapEntryCount) {
            let entry = start + index * CheckpointFooter.MapEntry.byteCount
            let page = entry[CheckpointFooter.MapEntry.page]
            let table = entry[CheckpointFooter.MapEntry.table]
            let key = UInt64(table) << 32 | UInt64(page)
            if let previous, previous >= key { return false }
            previous = key
            if entry[CheckpointFooter.MapEntry.file] != file.key {
                guard let other = files[entry[CheckpointFooter.MapEntry.file]] else { return false }
                file = (entry[CheckpointFooter.MapEntry.file], other)
            }
            guard entry[CheckpointFooter.MapEntry.entryCount] > 0,
                Int(entry[CheckpointFooter.MapEntry.entryCount]) <= TablePage.entryCount,
                entry[CheckpointFooter.MapEntry.index] < UInt32(clamping: file.file.pageCount)
            else { return false }
            if root?.table != table { root = tables.ownedRoot(table) }
            guard let root else { return false }
            root.placeStored(
                root.cache.makeStored(
                    table: table, number: page, file: file.file, fileIndex: entry[CheckpointFooter.MapEntry.index],
                    entryCount: entry[CheckpointFooter.MapEntry.entryCount]),
                page: Int(page))
            root.recordCount += Int(entry[CheckpointFooter.MapEntry.entryCount])
        }
        return true
    }

    /// A checkpoint's footer, or nil if it does not verify.
    static func readFooter(_ managed: ManagedFile, length: UInt64) throws(LogError) -> CheckpointFooter? {
        guard length >= UInt64(CheckpointFooter.byteCount) else { return nil }
        return try withUnsafeTemporaryAllocation(byteCount: CheckpointFooter.byteCount, alignment: 8) {
            (bytes) throws(LogError) in
            let offset = length - UInt64(CheckpointFooter.byteCount)
            try managed.read(into: bytes, at: offset, "reading a checkpoint's footer")
            return bytes.baseAddress.flatMap { CheckpointFooter(reading: $0, seed: managed.header.seed(at: offset)) }
        }
    }
}
