package import FaultlineDisk

extension IdentityMap {
    /// Checks the invariants that the type's comment lists.
    ///
    /// - Complexity: O(objects + pages of the directory).
    package func checkInvariants() throws(BrokenInvariant) {
        var found = (dense: 0, sparse: 0)
        var lost: UInt64?
        forEach { id, address in
            if address == 0 || self.address(of: id) != address { lost = id }
            if pages != nil, id >> Self.pageShift < UInt64(pageCount) { found.dense += 1 } else { found.sparse += 1 }
        }
        if let lost {
            throw broken(
                "in the dense form an identifier is in the pages if the directory has its page, else in the table",
                "a look-up misses identifier \(lost)")
        }
        guard found.sparse == sparseCount, found.dense + found.sparse == count else {
            throw broken(
                "`count` is the number of addresses in both, `sparseCount` of those in the table",
                "\(found.dense) are in pages and \(found.sparse) in the table; they are \(count) and \(sparseCount)")
        }
        for page in 0..<pageCount {
            guard let pages, let entries = pages[page].entries else { continue }
            let inPage = UnsafeBufferPointer(start: entries, count: Int(Self.pageMask) + 1).count { $0 != 0 }
            guard inPage == pages[page].count else {
                throw broken(
                    "`count` is the number of addresses in both, `sparseCount` of those in the table",
                    "page \(page) has \(inPage), and counts \(pages[page].count)")
            }
        }
    }

    private func broken(_ rule: String, _ detail: String) -> BrokenInvariant {
        BrokenInvariant("IdentityMap", rule, detail)
    }
}
