internal import CFaultline
package import FaultlineLog

/// The live objects of one entity in one context, by identifier: one object a row and context.
///
/// Holds bare addresses and retains nothing: an object leaves the map in its core's `deinit`. A look-up retains what it
/// finds with `tryRetain`, which refuses an object that is being destroyed, so a look-up can never revive one.
///
/// Shape: a small open-addressing table while few objects are alive; above that dense pages of 512 addresses, which
/// cost 8 bytes an object where identifiers are dense and need no hashing.
///
/// Concurrency: every call under the context's lock.
package struct IdentityMap: ~Copyable {
    private static let pageShift: UInt64 = 9
    private static let pageMask: UInt64 = 511
    /// Above this number of objects pages take over.
    private static let sparseMax = 2_048

    package private(set) var count = 0
    // Sparse form: keys and addresses in one allocation; key 0 is free.
    private var sparse: UnsafeMutablePointer<Entry>
    private var sparseCapacity = 16
    // Dense form.
    private var pages: UnsafeMutablePointer<UnsafeMutablePointer<UInt>?>?
    private var pageCount = 0

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
            for index in 0..<pageCount { pages[index]?.deallocate() }
            pages.deallocate()
        }
    }

    /// The address registered for `id`, or 0.
    ///
    /// The object may be on its way out.
    @inline(__always)
    package func address(of id: RecordID) -> UInt {
        if let pages {
            let page = Int(truncatingIfNeeded: id >> Self.pageShift)
            guard page < pageCount, let entries = pages[page] else { return 0 }
            return entries[Int(truncatingIfNeeded: id & Self.pageMask)]
        }
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
        let entry = denseEntry(for: id)
        if entry.pointee == 0 { count += 1 }
        entry.pointee = address
    }

    /// Forgets `id`.
    package mutating func remove(_ id: RecordID) {
        if let pages {
            let page = Int(truncatingIfNeeded: id >> Self.pageShift)
            guard page < pageCount, let entries = pages[page] else { return }
            let index = Int(truncatingIfNeeded: id & Self.pageMask)
            if entries[index] != 0 {
                entries[index] = 0
                count -= 1
            }
            return
        }
        removeSparse(id)
    }

    /// Room for dense identifiers up to `id`, so that a bulk load does not rehash.
    package mutating func reserve(_ objectCount: Int) {
        if pages == nil, count + objectCount > Self.sparseMax { makeDense() }
    }

    /// Calls `body` with every registered address.
    package func forEach(_ body: (RecordID, UInt) -> Void) {
        if let pages {
            for page in 0..<pageCount {
                guard let entries = pages[page] else { continue }
                for index in 0..<Int(Self.pageMask + 1) where entries[index] != 0 {
                    body(UInt64(page) << Self.pageShift | UInt64(index), entries[index])
                }
            }
        } else {
            for index in 0..<sparseCapacity where sparse[index].id != 0 {
                body(sparse[index].id, sparse[index].address)
            }
        }
    }

    // MARK: Sparse

    @inline(__always)
    private static func hash(_ id: UInt64) -> Int {
        Int(truncatingIfNeeded: (id &* 0x9E37_79B9_7F4A_7C15) >> 32)
    }

    private mutating func insertSparse(_ address: UInt, for id: RecordID) {
        if (count + 1) * 2 > sparseCapacity { growSparse() }
        var index = Self.hash(id) & (sparseCapacity - 1)
        while sparse[index].id != 0 {
            if sparse[index].id == id {
                sparse[index].address = address
                return
            }
            index = (index + 1) & (sparseCapacity - 1)
        }
        sparse[index] = Entry(id: id, address: address)
        count += 1
    }

    private mutating func growSparse() {
        let old = sparse
        let oldCapacity = sparseCapacity
        sparseCapacity *= 2
        sparse = .allocate(capacity: sparseCapacity)
        sparse.initialize(repeating: Entry(id: 0, address: 0), count: sparseCapacity)
        count = 0
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
        pages = .allocate(capacity: 1)
        pages?.initialize(to: nil)
        pageCount = 1
        count = 0
        for index in 0..<sparseCapacity where sparse[index].id != 0 {
            denseEntry(for: sparse[index].id).pointee = sparse[index].address
            count += 1
        }
        sparse.deallocate()
        sparseCapacity = 16
        sparse = .allocate(capacity: sparseCapacity)
        sparse.initialize(repeating: Entry(id: 0, address: 0), count: sparseCapacity)
    }

    @inline(__always)
    private mutating func denseEntry(for id: RecordID) -> UnsafeMutablePointer<UInt> {
        let page = Int(truncatingIfNeeded: id >> Self.pageShift)
        if page < pageCount, let pages, let entries = pages[page] {
            return entries + Int(truncatingIfNeeded: id & Self.pageMask)
        }
        return newPageEntry(page, Int(truncatingIfNeeded: id & Self.pageMask))
    }

    private mutating func newPageEntry(_ page: Int, _ index: Int) -> UnsafeMutablePointer<UInt> {
        if page >= pageCount {
            let newCount = max(page + 1, pageCount * 2)
            let grown = UnsafeMutablePointer<UnsafeMutablePointer<UInt>?>.allocate(capacity: newCount)
            grown.initialize(repeating: nil, count: newCount)
            if let pages {
                grown.update(from: pages, count: pageCount)
                pages.deallocate()
            }
            pages = grown
            pageCount = newCount
        }
        let capacity = Int(Self.pageMask + 1)
        let entries = UnsafeMutablePointer<UInt>.allocate(capacity: capacity)
        entries.initialize(repeating: 0, count: capacity)
        pages?[page] = entries
        return entries + index
    }
}
