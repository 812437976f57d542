import FaultlineDisk

extension TableRoot {
    /// Checks the invariants that the type's comment lists, for a captured version, and those of its pages.
    ///
    /// - Parameter sequence: The transaction after which it was captured, or a later one.
    /// - Throws: The first broken rule.
    func checkInvariants(capturedAt sequence: UInt64) throws(BrokenInvariant) {
        var count = 0
        for chunkIndex in 0..<chunkCount {
            guard let chunk = chunks[chunkIndex] else { continue }
            guard chunk.pointee.version <= version else {
                throw changed("chunk \(chunkIndex) is of the later version \(chunk.pointee.version)")
            }
            var used = 0
            for slot in 0..<TableChunk.pageCount {
                guard let handle = chunk.pointee.slots[slot] else { continue }
                used += 1
                count += try checkPage(chunkIndex * TableChunk.pageCount + slot, handle, sequence)
            }
            guard used > 0, used == chunk.pointee.usedCount else {
                throw broken(
                    "once captured it has no page without an object",
                    "chunk \(chunkIndex) has \(used) pages and counts \(chunk.pointee.usedCount)")
            }
        }
        guard count == recordCount else {
            throw broken(
                "`recordCount` is the number of locations that are not absent",
                "it is \(recordCount), and \(count) are not absent")
        }
    }

    /// Checks one page.
    ///
    /// - Returns: Its objects.
    private func checkPage(
        _ page: Int, _ handle: PageHandlePointer, _ sequence: UInt64
    ) throws(BrokenInvariant) -> Int {
        let entries = try cache.checkInvariants(of: handle)
        guard handle.pointee.version <= version else {
            throw changed("page \(page) is of the later version \(handle.pointee.version)")
        }
        guard entries.sequence <= sequence else {
            throw changed("transaction \(entries.sequence) has changed page \(page)")
        }
        guard entries.count > 0 else {
            throw broken("once captured it has no page without an object", "page \(page) has none")
        }
        let last = RecordID(page * TablePage.entryCount + (entries.last ?? 0) + 1)
        guard last < nextID else {
            throw broken("every identifier ever given is below `nextID`", "it is \(nextID), and \(last) is given")
        }
        return entries.count
    }

    private func changed(_ detail: String) -> BrokenInvariant {
        broken("once captured (its version is older than the working one) nothing in it changes", detail)
    }

    private func broken(_ rule: String, _ detail: String) -> BrokenInvariant {
        BrokenInvariant("TableRoot", rule, "version \(version) of table \(table): \(detail)")
    }
}
