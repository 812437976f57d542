import FaultlineDisk
import Synchronization

/// Loads pages on first touch and evicts clean ones under the memory budget, by second chance.
///
/// Concurrency: `lock` guards the ring and each handle's position in a file. It is not held while a page is read.
// Safe because mutable state is guarded by the lock.
package final class PageCache: @unchecked Sendable {
    let arena: PageArena
    package let budget: MemoryBudget
    let lock = EngineLock()
    /// Resident pages that are stored too.
    private(set) var ring: [PageHandlePointer] = []
    private var hand = 0
    private let handles = PageHandleArena()
    private var registration: MemoryBudget.Registration?

    init(budget: MemoryBudget) {
        self.budget = budget
        arena = PageArena(budget: budget)
        registration = budget.register(.pages) { [weak self] wanted in self?.evict(wanted) ?? 0 }
    }

    // MARK: Creating and freeing

    /// A new page of zeros that only the working version sees.
    func makePage(version: UInt64, table: UInt16, number: UInt32) -> PageHandlePointer {
        let page = arena.take()
        TablePage.initialize(page, table: table, number: number)
        return make(page: page, version: version, table: table, number: number, file: nil, fileIndex: 0)
    }

    /// A page in a checkpoint file, not resident.
    func makeStored(
        table: UInt16, number: UInt32, file: PageFile, fileIndex: UInt32, entryCount: UInt16
    ) -> PageHandlePointer {
        let handle = make(page: nil, version: 0, table: table, number: number, file: file, fileIndex: fileIndex)
        handle.pointee.storedEntryCount = entryCount
        return handle
    }

    /// A copy of a page that only the working version sees.
    ///
    /// The original keeps its references.
    func copyPage(_ original: PageHandlePointer, version: UInt64) throws(LogError) -> PageHandlePointer {
        let page = arena.take()
        do {
            // Read at its final address: only an old snapshot may still read the original.
            let place = original.pointee.page == nil ? storedPlace(original) : nil
            try copyWithoutLoading(original, place, to: page)
        } catch {
            arena.give(page)
            throw error
        }
        return make(
            page: page, version: version, table: original.pointee.table, number: original.pointee.number, file: nil,
            fileIndex: 0)
    }

    private func make(
        page: UnsafeMutableRawPointer?, version: UInt64, table: UInt16, number: UInt32, file: PageFile?,
        fileIndex: UInt32
    ) -> PageHandlePointer {
        let handle = handles.take()
        handle.initialize(
            to: PageHandle(page: page, version: version, table: table, number: number, file: file, fileIndex: fileIndex)
        )
        return handle
    }

    @inline(__always)
    func retain(_ handle: PageHandlePointer) {
        handle.pointee.references.wrappingAdd(1, ordering: .relaxed)
    }

    /// Releases one reference; the last one frees page and handle.
    func release(_ handle: PageHandlePointer) {
        guard handle.pointee.references.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 else {
            return
        }
        lock.lock()
        leaveRing(handle)
        lock.unlock()
        if let page = handle.pointee.page { arena.give(page) }
        handle.deinitialize(count: 1)
        handles.give(handle)
    }

    // MARK: Reading

    /// The location in an entry of a page, 0 to 335.
    @inline(__always)
    func location(_ handle: PageHandlePointer, entry: Int) throws(LogError) -> Location {
        try look(handle) { page in Self.location(in: page, entry: entry) }
    }

    @inline(__always)
    private static func location(in page: UnsafeRawPointer, entry: Int) -> Location {
        Location(reading: page + (TablePage.headerByteCount + entry * Location.byteCount))
    }

    /// The location in an entry of a page; nil if the page is not in memory, or was evicted in the meantime.
    @inline(__always)
    static func residentLocation(_ handle: PageHandlePointer, entry: Int) -> Location? {
        #if FAULTLINE_TSAN
        return nil
        #else
        return glance(handle) { page in location(in: page, entry: entry) }
        #endif
    }

    /// Copies a page's 4,096 bytes.
    package func copy(_ handle: PageHandlePointer, to target: UnsafeMutableRawPointer) throws(LogError) {
        try look(handle) { page in target.copyMemory(from: page, byteCount: TablePage.byteCount) }
    }

    /// Runs `body` on the resident page; repeats it, and ignores its result, if the page was evicted in the meantime.
    @inline(__always)
    private func look<R>(_ handle: PageHandlePointer, _ body: (UnsafeRawPointer) -> R) throws(LogError) -> R {
        while true {
            #if FAULTLINE_TSAN
            // The thread sanitizer does not understand sequence locks.
            let result = lock.withLock { handle.pointee.page.map { body(UnsafeRawPointer($0)) } }
            #else
            let result = Self.glance(handle, body)
            #endif
            if let result { return result }
            try load(handle)
        }
    }

    #if !FAULTLINE_TSAN
    /// Runs `body` on the page; nil if it is not in memory, or was evicted in the meantime.
    @inline(__always)
    private static func glance<R>(_ handle: PageHandlePointer, _ body: (UnsafeRawPointer) -> R) -> R? {
        let before = handle.pointee.word.load(ordering: .acquiring)
        guard let page = PageHandle.page(of: before) else { return nil }
        let result = body(UnsafeRawPointer(page))
        atomicMemoryFence(ordering: .acquiring)
        guard handle.pointee.word.load(ordering: .relaxed) == before else { return nil }
        if !handle.pointee.isTouched.load(ordering: .relaxed) {
            handle.pointee.isTouched.store(true, ordering: .relaxed)
        }
        return result
    }
    #endif

    @inline(never)
    private func load(_ handle: PageHandlePointer) throws(LogError) {
        let page = arena.take()
        var isKept = false
        defer { if !isKept { arena.give(page) } }
        lock.lock()
        let file = handle.pointee.file
        let index = handle.pointee.fileIndex
        lock.unlock()
        guard let file else { return }  // Another thread made it resident.
        try Self.read(file, index, table: handle.pointee.table, number: handle.pointee.number, into: page)

        lock.lock()
        defer { lock.unlock() }
        let now = handle.pointee.word.load(ordering: .relaxed)
        guard PageHandle.page(of: now) == nil else { return }
        handle.pointee.word.store(PageHandle.word(for: page, counter: now &+ 1), ordering: .releasing)
        joinRing(handle)
        isKept = true
    }

    /// Reads and verifies a stored page.
    package static func read(
        _ file: PageFile, _ index: UInt32, table: UInt16, number: UInt32, into page: UnsafeMutableRawPointer
    ) throws(LogError) {
        let offset = TablePage.offset(ofIndex: index)
        let buffer = UnsafeMutableRawBufferPointer(start: page, count: TablePage.byteCount)
        let count = try onDisk("reading a table page") { () throws(DiskError) in
            try file.managed.file.read(into: buffer, at: offset)
        }
        guard count == TablePage.byteCount,
            TablePage.isValid(page, table: table, number: number, seed: file.managed.header.seed(at: offset))
        else {
            file.managed.noteDamaged()
            throw file.managed.noting(
                .damagedDerived(
                    "Page \(number) of \(file.managed.text(of: TableID(rawValue: table))) does not verify.",
                    file.managed.path, offset))
        }
        if TablePage.hasFlags(page) { throw .newerFormat("A table page has a location", file.managed.path, offset) }
    }

    // MARK: Storing

    /// Records that a page is now in a file too; from then on it may be evicted.
    func setStored(_ handle: PageHandlePointer, file: PageFile, index: UInt32) {
        lock.lock()
        let old = handle.pointee.file
        handle.pointee.file = file
        handle.pointee.fileIndex = index
        if let page = handle.pointee.page { handle.pointee.storedEntryCount = page[TablePage.Fields.count] }
        if handle.pointee.page != nil, handle.pointee.ringIndex < 0 { joinRing(handle) }
        lock.unlock()
        // The last reference to it may remove a file, which must not happen under the lock.
        withExtendedLifetime(old) {}
    }

    /// The position of a page in a file.
    package struct StoredPlace {
        package let file: PageFile
        package let index: UInt32
        package let entryCount: UInt16
    }

    /// The position of a page, if it is stored.
    package func storedPlace(_ handle: PageHandlePointer) -> StoredPlace? {
        lock.lock()
        defer { lock.unlock() }
        return handle.pointee.file.map {
            StoredPlace(file: $0, index: handle.pointee.fileIndex, entryCount: handle.pointee.storedEntryCount)
        }
    }

    /// Copies a page without making it resident.
    func copyWithoutLoading(
        _ handle: PageHandlePointer, _ place: StoredPlace?, to target: UnsafeMutableRawPointer
    ) throws(LogError) {
        if let place, handle.pointee.page == nil {
            try Self.read(
                place.file, place.index, table: handle.pointee.table, number: handle.pointee.number, into: target)
        } else {
            try copy(handle, to: target)
        }
    }

    // MARK: Evicting

    private func joinRing(_ handle: PageHandlePointer) {
        handle.pointee.ringIndex = Int32(truncatingIfNeeded: ring.count)
        ring.append(handle)
    }

    private func leaveRing(_ handle: PageHandlePointer) {
        let index = Int(handle.pointee.ringIndex)
        guard index >= 0 else { return }
        let last = ring.removeLast()
        if last != handle {
            ring[index] = last
            last.pointee.ringIndex = Int32(truncatingIfNeeded: index)
        }
        handle.pointee.ringIndex = -1
    }

    /// Evicts pages not used since the hand last passed them.
    ///
    /// - Returns: Bytes freed.
    private func evict(_ wanted: Int) -> Int {
        lock.lock()
        var freed = 0
        var steps = ring.count * 2
        while freed < wanted, steps > 0, !ring.isEmpty {
            steps -= 1
            if hand >= ring.count { hand = 0 }
            let handle = ring[hand]
            if handle.pointee.isTouched.load(ordering: .relaxed) {
                handle.pointee.isTouched.store(false, ordering: .relaxed)
                hand += 1
                continue
            }
            let now = handle.pointee.word.load(ordering: .relaxed)
            handle.pointee.word.store((now &+ 1) & 0xF_FFFF, ordering: .releasing)
            leaveRing(handle)
            if let page = PageHandle.page(of: now) {
                arena.give(page, isWanted: true)
                freed += TablePage.byteCount
            }
        }
        lock.unlock()
        return freed
    }

    /// Resident pages that could be evicted.
    package var cleanPageCount: Int { lock.withLock { ring.count } }
}
