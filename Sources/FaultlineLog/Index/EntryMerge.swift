/// Merges sorted lists and runs into one ascending walk.
///
/// Sources are added from the newest to the oldest. Entries come by key, identifier, sequence number descending; of
/// entries equal in all of that the newest source's comes first. There are few sources, so the least is found by
/// looking at all of them; most comparisons end at the word.
struct EntryMerge: ~Copyable {
    /// What stands at the front of one source.
    struct Head {
        var word: UInt64 = 0
        var key: UnsafeRawPointer
        var keyByteCount = 0
        var id: RecordID = 0
        var sequence: UInt64 = 0
        var isDelete = false
        /// Of a list: what comes next.
        fileprivate var next: UnsafePointer<SortItem>?
        fileprivate var end: UnsafePointer<SortItem>?
        /// Of a run; `cursors` keeps it alive.
        fileprivate var cursor: Unmanaged<RunCursor>?
    }

    private static let prefetchDistance = 12

    private var heads: UnsafeMutablePointer<Head>
    private var capacity = 4
    /// Sources that are not at their end; those that are leave the array.
    private var count = 0
    private var current = -1
    /// Entries above this sequence number are passed over.
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

    /// Adds what a cursor has left as the next older source.
    mutating func add(_ cursor: RunCursor) throws(LogError) {
        cursors.append(cursor)
        var head = Head(key: UnsafeRawPointer(cursor.key.start))
        let reference = Unmanaged.passUnretained(cursor)
        head.cursor = reference
        if try advance(run: reference, &head) { append(head) }
    }

    /// Whether there is at most one source left.
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

    /// Calls `body` with the newest entry of each pair of key and identifier, deletes included, as long as keys begin
    /// with `prefix` and `body` returns true.
    @inline(__always)
    mutating func forEachNewest(prefix: UnsafeRawBufferPointer, _ body: (UnsafePointer<Head>) throws -> Bool) throws {
        // All below the limit may be dropped but the newest.
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
            // The order of sources is their age, so the others move up.
            (heads + current).update(from: heads + current + 1, count: count &- current &- 1)
            count &-= 1
        }
    }

    @inline(__always)
    private func advance(list head: inout Head) -> Bool {
        while let item = head.next, item != head.end {
            head.next = item + 1
            // Entries lie in the order they came in; sorted, each is a cache miss, and may reach into a second line.
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

    /// Whether the entry of `a`, an older source, stands before that of `b`.
    @inline(__always)
    private func isBefore(_ a: UnsafePointer<Head>, _ b: UnsafePointer<Head>) -> Bool {
        if a.pointee.word != b.pointee.word { return a.pointee.word < b.pointee.word }
        let order = KeyBytes.order(a.pointee.key, a.pointee.keyByteCount, b.pointee.key, b.pointee.keyByteCount)
        if order != 0 { return order < 0 }
        if a.pointee.id != b.pointee.id { return a.pointee.id < b.pointee.id }
        return a.pointee.sequence > b.pointee.sequence
    }
}
