import FaultlineDisk
import Synchronization

extension PageHandle {
    /// The entries of a page that a captured root sees.
    struct Entries {
        /// Objects in the page.
        let count: Int
        /// The last entry in use; nil if the page is not resident.
        let last: Int?
        /// The transaction that changed the page last; 0 if the page is not resident.
        let sequence: UInt64
    }

    /// Checks the invariants that the type's comment lists, for a page that a captured root sees.
    ///
    /// The caller must hold the lock of `PageCache`, so that the page is not evicted meanwhile.
    ///
    /// - Parameter isInRing: Whether the cache may evict the page.
    /// - Returns: The page's entries.
    /// - Throws: The first broken rule.
    borrowing func checkInvariants(isInRing: Bool) throws(BrokenInvariant) -> Entries {
        let page = self.page
        let isStored = file != nil
        guard page != nil || isStored, references.load(ordering: .relaxed) > 0 else {
            throw broken("resident or stored, or both; never neither", "it is neither, or no chunk refers to it")
        }
        guard isInRing == (page != nil && isStored) else {
            throw broken(
                "a handle that is not stored is never evicted",
                "it is \(isStored ? "stored" : "not stored"), \(page == nil ? "not resident" : "resident"), and "
                    + (isInRing ? "may be evicted" : "cannot be evicted"))
        }
        guard let page else { return Entries(count: Int(storedEntryCount), last: nil, sequence: 0) }
        var count = 0
        var last: Int?
        for entry in 0..<TablePage.entryCount {
            let place = page + (TablePage.headerByteCount + entry * Location.byteCount)
            guard !Location(reading: place).isAbsent else { continue }
            count += 1
            last = entry
        }
        let noted = page[TablePage.Fields.count]
        guard page[TablePage.Fields.number] == number, page[TablePage.Fields.table] == table, count == Int(noted),
            !isStored || noted == storedEntryCount
        else {
            throw broken(
                "once a captured root sees the handle its entries never change",
                "it has \(count) entries; the header of page \(page[TablePage.Fields.number]) says \(noted), the file \(storedEntryCount)"
            )
        }
        return Entries(count: count, last: last, sequence: page[TablePage.Fields.sequence])
    }

    private borrowing func broken(_ rule: String, _ detail: String) -> BrokenInvariant {
        BrokenInvariant("PageHandle", rule, "page \(number) of table \(table): \(detail)")
    }
}

extension PageCache {
    /// Checks the invariants of a page that a captured root sees.
    ///
    /// - Returns: The page's entries.
    func checkInvariants(of handle: PageHandlePointer) throws(BrokenInvariant) -> PageHandle.Entries {
        lock.lock()
        defer { lock.unlock() }
        let place = Int(handle.pointee.ringIndex)
        return try handle.pointee.checkInvariants(isInRing: ring.indices.contains(place) && ring[place] == handle)
    }
}
