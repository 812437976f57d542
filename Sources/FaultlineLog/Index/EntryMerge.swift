import CFaultline

/// Merges sorted lists and runs into one ascending sequence.
///
/// Sources are added from the newest to the oldest. Entries come by key, identifier, sequence number descending; of
/// entries equal in all of that the newest source's comes first. There are few sources, so the least is found by a look
/// at all of them; most comparisons end at the word.
struct EntryMerge: ~Copyable {
    /// The front entry of one source.
    struct Head {
        var word: UInt64 = 0
        var key: UnsafeRawPointer
        var keyByteCount = 0
        var id: RecordID = 0
        var sequence: UInt64 = 0
        var isDelete = false
        /// For a list: the next item.
        fileprivate var next: UnsafePointer<SortItem>?
        fileprivate var end: UnsafePointer<SortItem>?
        /// For a run; `cursors` keeps it alive.
        fileprivate var cursor: Unmanaged<RunCursor>?
    }

    private static let prefetchDistance = 12

    private var heads: UnsafeMutablePointer<Head>
    private var capacity = 4
    /// Sources with entries left; a source at its end leaves the array.
    private var count = 0
    private var current = -1
    /// Entries above this sequence number are skipped.
    private let limit: UInt64
    private var cursors: [RunCursor] = []
    private var tiers: [SortedTier] = []

    init(limit: UInt64) {
        self.limit = limit
        heads = .allocate(capacity: capacity)
    }

    deinit {
        heads.deallocate()
    }

    /// Adds a part of a tier as the next older source.
    mutating func add(_ tier: SortedTier, from start: Int, to end: Int) {
        guard start < end else { return }
        tiers.append(tier)
        var head = Head(key: UnsafeRawPointer(tier.items))
        head.next = UnsafePointer(tier.items + start)
        head.end = UnsafePointer(tier.items + end)
        if advance(list: &head) { append(head) }
    }

    /// Adds a cursor's remaining entries as the next older source.
    mutating func add(_ cursor: RunCursor) throws(LogError) {
        cursors.append(cursor)
        var head = Head(key: UnsafeRawPointer(cursor.key.start))
        let reference = Unmanaged.passUnretained(cursor)
        head.cursor = reference
        if try advance(run: reference, &head) { append(head) }
    }

    /// Whether at most one source is left.
    var isSingle: Bool { count <= 1 }

    /// The next entry; nil at the end.
    ///
    /// Valid until the next call.
    @inline(__always)
    mutating func next() throws(LogError) -> UnsafePointer<Head>? {
        if current >= 0 { try advanceCurrent() }
        if count == 0 { return nil }
        var least = 0
        var index = 1
        while index < count {
            if isBefore(heads + index, heads + least) { least = index }
            index &+= 1
        }
        current = least
        return UnsafePointer(heads + least)
    }

    /// Calls `body` with the newest entry of each pair of key and identifier, deletes included, while keys begin with
    /// `prefix` and `body` returns true.
    @inline(__always)
    mutating func forEachNewest(prefix: UnsafeRawBufferPointer, _ body: (UnsafePointer<Head>) throws -> Bool) throws {
        // Of the entries below the limit only the newest is needed.
        var filter = VersionFilter(oldestLimit: .max, dropsDeletes: false)
        while let entry = try next() {
            // Sources end behind the prefix, not with it.
            if let start = prefix.baseAddress,
                !KeyBytes.hasPrefix(entry.pointee.key, entry.pointee.keyByteCount, start, prefix.count)
            {
                return
            }
            guard filter.keeps(entry) else { continue }
            if try !body(entry) { return }
        }
    }

    @inline(__always)
    private mutating func advanceCurrent() throws(LogError) {
        let head = heads + current
        let isThere =
            if let cursor = head.pointee.cursor { try advance(run: cursor, &head.pointee) } else {
                advance(list: &head.pointee)
            }
        if !isThere {
            // Sources are in the order of their age, so the others move up.
            (heads + current).update(from: heads + current + 1, count: count &- current &- 1)
            count &-= 1
        }
    }

    @inline(__always)
    private func advance(list head: inout Head) -> Bool {
        while let item = head.next, item != head.end {
            head.next = item + 1
            // Entries lie in the order of insertion. In sorted order each is a cache miss, and may reach into a second
            // line.
            if let end = head.end, item + Self.prefetchDistance < end {
                let coming = item[Self.prefetchDistance].entry.base
                prefetch(coming)
                prefetch(coming + 40)
            }
            let entry = item.pointee.entry
            guard entry.isVisible(at: limit) else { continue }
            head.word = item.pointee.word
            head.key = entry.key
            head.keyByteCount = entry.keyByteCount
            head.id = entry.id
            head.sequence = entry.sequence
            head.isDelete = entry.isDelete
            return true
        }
        return false
    }

    @inline(__always)
    private func advance(run reference: Unmanaged<RunCursor>, _ head: inout Head) throws(LogError) -> Bool {
        // Safe because `cursors` holds it.
        let cursor = reference._withUnsafeGuaranteedRef { $0 }
        while try cursor.advance() {
            if cursor.sequence > limit { continue }
            head.key = UnsafeRawPointer(cursor.key.start)
            head.keyByteCount = cursor.key.byteCount
            head.word = KeyBytes.word(head.key, head.keyByteCount)
            head.id = cursor.id
            head.sequence = cursor.sequence
            head.isDelete = cursor.isDelete
            return true
        }
        return false
    }

    private mutating func append(_ head: Head) {
        if count == capacity {
            let larger = UnsafeMutablePointer<Head>.allocate(capacity: capacity * 2)
            larger.moveInitialize(from: heads, count: count)
            heads.deallocate()
            heads = larger
            capacity *= 2
        }
        (heads + count).initialize(to: head)
        count += 1
    }

    /// Whether the entry of `a`, an older source, comes before that of `b`.
    @inline(__always)
    private func isBefore(_ a: UnsafePointer<Head>, _ b: UnsafePointer<Head>) -> Bool {
        if a.pointee.word != b.pointee.word { return a.pointee.word < b.pointee.word }
        let order = KeyBytes.order(a.pointee.key, a.pointee.keyByteCount, b.pointee.key, b.pointee.keyByteCount)
        if order != 0 { return order < 0 }
        if a.pointee.id != b.pointee.id { return a.pointee.id < b.pointee.id }
        return a.pointee.sequence > b.pointee.sequence
    }
}

/// Prefetches the cache line at `address`, without waiting for it; any address is allowed.
@inline(__always)
func prefetch(_ address: UnsafeRawPointer) {
    fl_prefetch(address)
}
