import FaultlineDisk

/// The entries of one term in a part of an index, in their order.
///
/// Not for two threads at once.
class PostingSource {
    /// The object of the current entry; `UInt64.max` at the end.
    // Safe because no access to a number calls anything.
    @exclusivity(unchecked) final fileprivate(set) var id: RecordID = 0
    /// Whether an entry is no posting, although it has the beginning of one.
    final fileprivate(set) var isMalformed = false

    /// The current entry's payload, valid until the next move.
    var payload: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
    var sequence: UInt64 { 0 }
    var isDelete: Bool { false }
    /// Whether the next entry is known to be of another object.
    var isAlone: Bool { false }

    /// Moves to the next entry.
    func advance() throws(LogError) {}

    /// Moves to the first entry of an object that is not below another one, which is above the current one.
    func advance(notBelow id: RecordID) throws(LogError) {}

    /// The entries from the current one on that are live, each the only one of its object, and below another object;
    /// nil if they are not known to be.
    ///
    /// The source stands still until `leave` is called.
    func window(below id: RecordID) -> PostingWindow? { nil }

    /// Moves to an entry of a window, or to the one behind it.
    func leave(_ window: PostingWindow, to entry: Int) {}

    /// The payload of a whole key with a beginning; nil if it is no posting of that identifier.
    fileprivate final func payload(
        of key: UnsafeRawBufferPointer, behind head: [UInt8], id: RecordID
    ) -> UnsafeRawBufferPointer? {
        guard let start = key.baseAddress,
            let parts = PostingKey(start, key.count, termByteCount: head.count - 1, id: id)
        else { return nil }
        return UnsafeRawBufferPointer(start: parts.payload, count: parts.payloadByteCount)
    }
}

extension [UInt8] {
    /// A term and its zero, followed by an identifier.
    fileprivate mutating func setID(_ id: RecordID, behind byteCount: Int) {
        for place in 0..<8 { self[byteCount + place] = UInt8(truncatingIfNeeded: id >> UInt64(56 - 8 * place)) }
    }

    /// Whether it is a term and its zero.
    fileprivate func isTerm(_ term: UnsafeRawBufferPointer) -> Bool {
        term.count == count - 1
            && withUnsafeBytes { KeyBytes.order(UnsafeRawBufferPointer(rebasing: $0[..<term.count]), term) == 0 }
    }

    /// Whether a key begins with these bytes.
    func isBeginning(of key: UnsafeRawBufferPointer) -> Bool {
        withUnsafeBytes { head in
            guard let start = key.baseAddress, let other = head.baseAddress else { return head.isEmpty }
            return KeyBytes.hasPrefix(start, key.count, other, head.count)
        }
    }
}

/// The entries of one term in a run.
final class RunPostings: PostingSource {
    private let cursor: RunCursor
    /// The term and its zero.
    private let head: [UInt8]
    private let limit: UInt64
    /// Whether no entry of the run is above the limit.
    private let areAllVisible: Bool
    private var target: [UInt8]
    /// Whether the current entry is of a group, whose entries have no keys.
    // Safe because no access to it calls anything.
    @exclusivity(unchecked) private var isInGroup = false

    /// The entries of a run up to a sequence number, before the first move.
    init(_ run: Run, head: [UInt8], at limit: UInt64) throws(LogError) {
        self.head = head
        self.limit = limit
        areAllVisible = run.footer.lastSequence <= limit
        target = head + [UInt8](repeating: 0, count: 8)
        let result: Result<RunCursor, LogError> = head.withUnsafeBytes { head in
            Result { () throws(LogError) in
                try run.cursor(from: head, cachedBlockCount: Self.cachedBlockCount(of: run))
            }
        }
        cursor = try result.get()
    }

    /// The blocks of a walk that come through the cache: about a sixteenth of it, because searches repeat words.
    static func cachedBlockCount(of run: Run) -> Int { max(run.cache.budget.byteCount >> 14, 8) }

    override var sequence: UInt64 { cursor.sequence }
    override var isDelete: Bool { cursor.isDelete }

    override var isAlone: Bool {
        guard isInGroup, let list = cursor.postings, cursor.ordinal < list.count else { return false }
        return list.id(cursor.ordinal) != id
    }

    override var payload: UnsafeRawBufferPointer {
        if let list = cursor.postings { return list.payload(cursor.ordinal &- 1) }
        return payload(of: cursor.key.bytes, behind: head, id: cursor.id) ?? super.payload
    }

    override func advance() throws(LogError) {
        repeat { try step() } while id != .max && cursor.sequence > limit
    }

    override func advance(notBelow id: RecordID) throws(LogError) {
        try move(notBelow: id)
        if self.id != .max, cursor.sequence > limit { try advance() }
    }

    private func move(notBelow id: RecordID) throws(LogError) {
        while let list = cursor.postings, isInGroup {
            let last = list.count &- 1, lastID = list.id(last)
            if lastID >= id { return take(list.first(notBelow: id, from: cursor.ordinal), of: list) }
            // The block has other terms behind this one.
            if list.hasNext { return end() }
            // An object that is no further away than the group is long is probably in the next block.
            guard id &- lastID <= lastID &- list.id(0) else { break }
            take(last, of: list)
            try step()
            if self.id >= id { return }
        }
        try search(id)
    }

    override func window(below id: RecordID) -> PostingWindow? {
        // The last entry of a group may have others of its object in the next block.
        guard isInGroup, areAllVisible, let list = cursor.postings else { return nil }
        if list.hasDeletes { return nil }
        let start = cursor.ordinal &- 1
        let end = list.endOfSingle(from: start, below: id)
        return end > start ? PostingWindow(list, start..<end) : nil
    }

    override func leave(_ window: PostingWindow, to entry: Int) {
        if let list = cursor.postings { take(entry, of: list) }
    }

    private func search(_ id: RecordID) throws(LogError) {
        target.setID(id, behind: head.count)
        let result: Result<Bool, LogError> = target.withUnsafeBytes { target in
            Result { () throws(LogError) in try cursor.move(to: target) }
        }
        guard try result.get() else { return end() }
        // The entry found is the cursor's next one.
        isInGroup = false
        try step()
    }

    private func step() throws(LogError) {
        if let list = cursor.postings, isInGroup {
            if cursor.ordinal < list.count { return take(cursor.ordinal, of: list) }
            if list.hasNext { return end() }
        }
        guard try cursor.advance() else { return end() }
        isInGroup = cursor.postings != nil
        if let list = cursor.postings {
            guard head.isTerm(list.term.bytes) else { return end() }
        } else {
            guard head.isBeginning(of: cursor.key.bytes) else { return end() }
            if payload(of: cursor.key.bytes, behind: head, id: cursor.id) == nil { isMalformed = true }
        }
        id = cursor.id
    }

    @inline(__always)
    private func take(_ entry: Int, of list: PostingList) {
        cursor.takeWithoutKey(entry, of: list)
        id = cursor.id
    }

    private func end() {
        id = .max
        isInGroup = false
    }
}

/// The entries of one term in a sorted part of a memtable.
final class TierPostings: PostingSource {
    private let tier: SortedTier
    private let head: [UInt8]
    private let limit: UInt64
    private var target: [UInt8]
    /// The place of the next entry.
    private var next: Int
    private var entry: MemtableEntry?

    init(_ tier: SortedTier, head: [UInt8], at limit: UInt64) {
        self.tier = tier
        self.head = head
        self.limit = limit
        target = head + [UInt8](repeating: 0, count: 8)
        next = head.withUnsafeBytes { tier.lowerBound($0) }
    }

    override var sequence: UInt64 { entry?.sequence ?? 0 }
    override var isDelete: Bool { entry?.isDelete ?? false }

    override var payload: UnsafeRawBufferPointer {
        guard let entry else { return super.payload }
        return payload(of: entry.bytes, behind: head, id: entry.id) ?? super.payload
    }

    override func advance() throws(LogError) {
        while next < tier.count {
            let found = tier.items[next].entry
            next &+= 1
            guard head.isBeginning(of: found.bytes) else { break }
            guard found.isVisible(at: limit) else { continue }
            if payload(of: found.bytes, behind: head, id: found.id) == nil { isMalformed = true }
            entry = found
            id = found.id
            return
        }
        entry = nil
        id = .max
    }

    override func advance(notBelow id: RecordID) throws(LogError) {
        try advance()
        guard self.id < id else { return }
        target.setID(id, behind: head.count)
        next = target.withUnsafeBytes { tier.lowerBound($0) }
        try advance()
    }
}

extension MemtableEntry {
    /// The key's bytes.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: key, count: keyByteCount) }
}
