import FaultlineDisk

/// Writes changed pages to an unlisted file, so that their memory can be used again before the next checkpoint.
///
/// For transactions, and replays, that change more pages than the budget holds. The next checkpoint lists the file;
/// after a crash before that, it is removed.
package enum PageSpill {
    /// Stores every page of `tables` that is in no file.
    ///
    /// Durability: the pages are durable; the checkpoint that lists the file synchronizes its entry in the directory.
    package static func spill(_ tables: TableSet, cache: PageCache, in directory: StoreDirectory, sequence: UInt64)
        throws(LogError)
    {
        let managed = try directory.create(.tableCheckpoint)
        var pages = PageFileWriter(managed)
        var stored: [(handle: PageHandlePointer, index: UInt32)] = []
        for root in tables.all {
            for page in 0..<root.pageCount {
                guard let handle = root.handle(ofPage: page), cache.storedPlace(handle) == nil else { continue }
                stored.append((handle, try pages.append(handle, nil, of: cache).index))
            }
        }
        var map = ByteWriter(byteCapacity: 64)
        let file = try pages.finish(map: &map, sequence: sequence, site: "spill.content")
        for (handle, index) in stored { cache.setStored(handle, file: file, index: index) }
    }
}
