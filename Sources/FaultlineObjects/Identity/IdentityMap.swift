internal import CFaultline
package import FaultlineLog

/// The live objects of one entity in one context, by identifier: one object a row and context.
///
/// Holds bare addresses and retains nothing: an object leaves the map in its core's `deinit`. A look-up retains the
/// object it finds with `tryRetain`, which refuses an object that is being destroyed, so a look-up can never revive
/// one.
///
/// Shape: a small open-addressing table while few objects are alive; above that dense pages of 512 addresses, which
/// cost 8 bytes an object if identifiers are dense, and need no hashing. A page is freed with its last object, so a
/// walk over any number of objects pays only for those that are alive. The directory of the pages is bounded by the
/// number of objects: identifiers far above the others stay in the table, so no identifier by itself costs memory.
///
/// Invariants:
/// - in the dense form an identifier is in the pages if the directory has its page, else in the table;
/// - `count` is the number of addresses in both, `sparseCount` of those in the table.
///
/// Concurrency: every call under the context's lock.
package struct IdentityMap: ~Copyable {
    static let pageShift: UInt64 = 9
    static let pageMask: UInt64 = 511
    /// Above this number of objects pages take over.
    private static let sparseMax = 2_048
    /// Pages that the directory may have for any number of objects: 256 KiB, identifiers up to 8 million.
    private static let directoryMin = 16_384
    /// Additional pages that it may have for each object.
    private static let pagesAnObject = 4

    package private(set) var count = 0
    // Sparse form: keys and addresses in one allocation; key 0 is free.
    private var sparse: UnsafeMutablePointer<Entry>
    private var sparseCapacity = 16
    private(set) var sparseCount = 0
    // Dense form.
    private(set) var pages: UnsafeMutablePointer<Page>?
    private(set) var pageCount = 0
    /// An empty page, so that a sequence of single objects does not allocate a page each time.
    private var spare: UnsafeMutablePointer<UInt>?
    private var allocatedPageCount = 0

    struct Page {
        /// 512 addresses; 0 if there is no object.
        var entries: UnsafeMutablePointer<UInt>?
        /// The number of addresses that are not 0.
        var count: Int
    }

    private struct Entry {
        var id: UInt64
        var address: UInt
    }

    package init() {
        sparse = .allocate(capacity: sparseCapacity)
        sparse.initialize(repeating: Entry(id: 0, address: 0), count: sparseCapacity)
    }

    deinit {
        sparse.deallocate()
        if let pages {
            for index in 0..<pageCount { pages[index].entries?.deallocate() }
            pages.deallocate()
        }
        spare?.deallocate()
    }

    /// Bytes of memory.
    package var byteCount: Int {
        sparseCapacity * MemoryLayout<Entry>.stride + pageCount * MemoryLayout<Page>.stride
            + allocatedPageCount * Int(Self.pageMask + 1) * MemoryLayout<UInt>.stride
    }

    /// The address registered for `id`, or 0.
    ///
    /// The object may be being destroyed.
    @inline(__always)
    package func address(of id: RecordID) -> UInt {
        if let pages {
            let page = Self.page(of: id)
            if page < pageCount {
                guard let entries = pages[page].entries else { return 0 }
                return entries[Int(truncatingIfNeeded: id & Self.pageMask)]
            }
            if sparseCount == 0 { return 0 }
        }
        return sparseAddress(of: id)
    }

    @inline(__always)
    private func sparseAddress(of id: RecordID) -> UInt {
        var index = Self.hash(id) & (sparseCapacity - 1)
        while true {
            let entry = sparse[index]
            if entry.id == id { return entry.address }
            if entry.id == 0 { return 0 }
            index = (index + 1) & (sparseCapacity - 1)
        }
    }

    /// Registers an object; replaces one that is being destroyed.
    @inline(__always)
    package mutating func insert(_ address: UInt, for id: RecordID) {
        if pages == nil {
            if count < Self.sparseMax {
                insertSparse(address, for: id)
                return
            }
            makeDense()
        }
        insertDense(address, for: id)
    }

    /// Forgets `id`.
    package mutating func remove(_ id: RecordID) {
        if let pages, Self.page(of: id) < pageCount {
            let page = Self.page(of: id)
            guard let entries = pages[page].entries else { return }
            let index = Int(truncatingIfNeeded: id & Self.pageMask)
            if entries[index] != 0 {
                entries[index] = 0
                count -= 1
                pages[page].count -= 1
                if pages[page].count == 0 { takeOut(page) }
            }
            return
        }
        removeSparse(id)
    }

    /// Makes room for dense identifiers up to `id`, so that a bulk load does not rehash.
    package mutating func reserve(_ objectCount: Int) {
        if pages == nil, count + objectCount > Self.sparseMax { makeDense() }
    }

    /// Calls `body` with every registered address.
    package func forEach(_ body: (RecordID, UInt) -> Void) {
        if let pages {
            for page in 0..<pageCount {
                guard let entries = pages[page].entries else { continue }
                for index in 0..<Int(Self.pageMask + 1) where entries[index] != 0 {
                    body(UInt64(page) << Self.pageShift | UInt64(index), entries[index])
                }
            }
        }
        for index in 0..<sparseCapacity where sparse[index].id != 0 {
            body(sparse[index].id, sparse[index].address)
        }
    }

    // MARK: Sparse

    @inline(__always)
    private static func page(of id: RecordID) -> Int { Int(truncatingIfNeeded: id >> pageShift) }

    @inline(__always)
    private static func hash(_ id: UInt64) -> Int {
        Int(truncatingIfNeeded: (id &* 0x9E37_79B9_7F4A_7C15) >> 32)
    }

    private mutating func insertSparse(_ address: UInt, for id: RecordID) {
        if (sparseCount + 1) * 2 > sparseCapacity { growSparse() }
        var index = Self.hash(id) & (sparseCapacity - 1)
        while sparse[index].id != 0 {
            if sparse[index].id == id {
                sparse[index].address = address
                return
            }
            index = (index + 1) & (sparseCapacity - 1)
        }
        sparse[index] = Entry(id: id, address: address)
        sparseCount += 1
        count += 1
    }

    private mutating func growSparse() {
        let old = sparse
        let oldCapacity = sparseCapacity
        sparseCapacity *= 2
        sparse = .allocate(capacity: sparseCapacity)
        sparse.initialize(repeating: Entry(id: 0, address: 0), count: sparseCapacity)
        count -= sparseCount
        sparseCount = 0
        for index in 0..<oldCapacity where old[index].id != 0 {
            insertSparse(old[index].address, for: old[index].id)
        }
        old.deallocate()
    }

    // Backward-shift deletion (Knuth, The Art of Computer Programming 3, 6.4, algorithm R): no tombstones to pile up.
    private mutating func removeSparse(_ id: RecordID) {
        let mask = sparseCapacity - 1
        var hole = Self.hash(id) & mask
        while sparse[hole].id != id {
            if sparse[hole].id == 0 { return }
            hole = (hole + 1) & mask
        }
        sparseCount -= 1
        count -= 1
        var next = (hole + 1) & mask
        while sparse[next].id != 0 {
            let home = Self.hash(sparse[next].id) & mask
            if (next &- home) & mask >= (next &- hole) & mask {
                sparse[hole] = sparse[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        sparse[hole] = Entry(id: 0, address: 0)
    }

    // MARK: Dense

    private mutating func makeDense() {
        var last = 0
        for index in 0..<sparseCapacity {
            let page = Self.page(of: sparse[index].id)
            if page < directoryMax { last = max(last, page) }
        }
        setDirectory(pageCount: last + 1)
    }

    /// Grows the directory, and moves identifiers from the table into its pages.
    private mutating func setDirectory(pageCount newCount: Int) {
        let grown = UnsafeMutablePointer<Page>.allocate(capacity: newCount)
        grown.initialize(repeating: Page(entries: nil, count: 0), count: newCount)
        if let pages {
            grown.update(from: pages, count: pageCount)
            pages.deallocate()
        }
        pages = grown
        pageCount = newCount
        if sparseCount > 0 { enterAgain() }
    }

    /// Enters the identifiers of the table again: each in its page, if the directory has that page now.
    private mutating func enterAgain() {
        let old = sparse
        let oldCapacity = sparseCapacity
        count -= sparseCount
        sparseCount = 0
        sparseCapacity = 16
        sparse = .allocate(capacity: sparseCapacity)
        sparse.initialize(repeating: Entry(id: 0, address: 0), count: sparseCapacity)
        for index in 0..<oldCapacity where old[index].id != 0 {
            if Self.page(of: old[index].id) < pageCount {
                insertDense(old[index].address, for: old[index].id)
            } else {
                insertSparse(old[index].address, for: old[index].id)
            }
        }
        old.deallocate()
    }

    /// The directory may grow to hold a page below this one.
    private var directoryMax: Int { Self.directoryMin + count * Self.pagesAnObject }

    @inline(__always)
    private mutating func insertDense(_ address: UInt, for id: RecordID) {
        let page = Self.page(of: id)
        if page >= pageCount || pages.unsafelyUnwrapped[page].entries == nil, !makePage(page) {
            insertSparse(address, for: id)
            return
        }
        let place = pages.unsafelyUnwrapped + page
        let entry = place.pointee.entries.unsafelyUnwrapped + Int(truncatingIfNeeded: id & Self.pageMask)
        if entry.pointee == 0 {
            count += 1
            place.pointee.count += 1
        }
        entry.pointee = address
    }

    /// Makes a page; false if it is so far above the others that its identifiers stay in the table.
    @inline(never)
    private mutating func makePage(_ page: Int) -> Bool {
        if page >= pageCount {
            guard page < directoryMax else { return false }
            setDirectory(pageCount: max(page + 1, pageCount * 2))
            if pages?[page].entries != nil { return true }
        }
        if let spare {
            pages?[page].entries = spare
            self.spare = nil
            return true
        }
        let capacity = Int(Self.pageMask + 1)
        let entries = UnsafeMutablePointer<UInt>.allocate(capacity: capacity)
        entries.initialize(repeating: 0, count: capacity)
        allocatedPageCount += 1
        pages?[page].entries = entries
        return true
    }

    /// Frees a page whose last object is gone.
    @inline(never)
    private mutating func takeOut(_ page: Int) {
        let entries = pages?[page].entries
        pages?[page].entries = nil
        guard spare != nil else { return spare = entries }
        entries?.deallocate()
        allocatedPageCount -= 1
    }
}
