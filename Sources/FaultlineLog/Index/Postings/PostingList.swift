import FaultlineDisk

/// The groups of a verified block of postings, one after the other, each with its entries decoded.
///
/// Identifiers are decoded with the group, payloads and sequence numbers each by itself. Memory: at most 16 bytes an
/// entry, of which a block has 2,048, and a payload.
final class PostingList {
    // Properties are unchecked. Safe because no access to one calls anything, and a list is not for two threads.

    /// The term of the group.
    let term = KeyCopy()
    /// The header of the group, in memory of its own, so that no use of it copies it; valid if the count is not 0.
    private let group: UnsafeMutablePointer<PostingGroup>
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private var ids: UnsafeMutablePointer<UInt64>
    /// Whether several entries have one identifier.
    @exclusivity(unchecked) private(set) var hasRepeats = false
    private var capacity = 16
    @exclusivity(unchecked) private var nextGroup = 0
    @exclusivity(unchecked) private var block: UnsafeRawPointer
    @exclusivity(unchecked) private var blockEnd = 0
    /// The entry whose payload was asked for last; -1 for none.
    @exclusivity(unchecked) private var payloadEntry = -1
    /// Its bytes behind the first one, in the block.
    @exclusivity(unchecked) private var rest = 0
    @exclusivity(unchecked) private var payloadByteCount = 0
    private let payload: UnsafeMutableRawBufferPointer

    init() {
        ids = .allocate(capacity: capacity)
        group = .allocate(capacity: 1)
        payload = .allocate(byteCount: PostingBlock.payloadByteCountMax, alignment: 8)
        block = UnsafeRawPointer(ids)
    }

    deinit {
        ids.deallocate()
        group.deallocate()
        payload.deallocate()
    }

    /// Begins before the first group of a block, which stays in memory until the list begins another.
    func begin(_ block: UnsafeRawBufferPointer) {
        guard let start = block.baseAddress else { return end() }
        self.block = start
        blockEnd = block.count
        nextGroup = PostingBlock.headerByteCount
        count = 0
    }

    /// Has no groups.
    func end() {
        count = 0
        nextGroup = 0
        blockEnd = 0
    }

    /// Whether the block has a group behind this one.
    @inline(__always) var hasNext: Bool { nextGroup < blockEnd }

    /// Moves to the next group; false at the block's end.
    func next() -> Bool {
        guard let next = header() else { return false }
        decode(next)
        return true
    }

    /// Moves to the first group that has a key not below a target, or keys above it.
    ///
    /// - Returns: The first entry of the group that is not below the target; nil at the block's end.
    func next(notBelow target: UnsafeRawBufferPointer) -> Int? {
        while let next = header() {
            switch Self.place(of: target, term: term.bytes) {
            case .behind: continue
            case .before:
                decode(next)
                return 0
            case .inside(let rest):
                decode(next)
                let found = first(notBelow: rest)
                if found < count { return found }
            }
        }
        return nil
    }

    /// Reads the header of the next group, and its term.
    private func header() -> PostingGroup? {
        guard hasNext, let next = PostingGroup(block, at: nextGroup, end: blockEnd) else { return nil }
        term.replace(after: next.sharedByteCount, with: next.further, next.furtherByteCount)
        nextGroup = next.end
        count = 0
        return next
    }

    private func decode(_ next: PostingGroup) {
        group.initialize(to: next)
        count = next.count
        payloadEntry = -1
        if count > capacity {
            ids.deallocate()
            capacity = count * 2
            ids = .allocate(capacity: capacity)
        }
        let target = ids
        var id = next.firstID
        target[0] = id
        var hasRepeats = false
        for entry in 1..<max(next.count, 1) {
            let step = next.step(to: entry)
            if step == 0 { hasRepeats = true }
            id &+= step
            target[entry] = id
        }
        self.hasRepeats = hasRepeats
    }

    @inline(__always)
    func id(_ entry: Int) -> UInt64 { ids[entry] }

    @inline(__always)
    func sequence(_ entry: Int) -> UInt64 { group.pointee.sequence(entry, id: ids[entry]) }

    /// Whether the group has deletes.
    @inline(__always) var hasDeletes: Bool { group.pointee.hasDeletes }

    @inline(__always)
    func isDelete(_ entry: Int) -> Bool { group.pointee.isDelete(entry) }

    /// The payload of an entry, valid until that of another one is asked for.
    ///
    /// - Complexity: A few instructions for each entry between this one and the last one that was asked for; from the
    ///   group's first one on if that lies behind.
    @inline(__always)
    func payload(_ entry: Int) -> UnsafeRawBufferPointer {
        if entry != payloadEntry { assemblePayload(entry) }
        return UnsafeRawBufferPointer(rebasing: payload[..<payloadByteCount])
    }

    /// Puts the first byte of a payload, which is in a column, before the others.
    private func assemblePayload(_ entry: Int) {
        guard entry < count, let target = payload.baseAddress else { return }
        if entry < payloadEntry || payloadEntry < 0 {
            payloadEntry = 0
            rest = group.pointee.rest
            payloadByteCount = group.pointee.length(0)
        }
        if entry == payloadEntry &+ 1 {
            rest &+= payloadByteCount &- 1
        } else if entry > payloadEntry {
            rest &+= group.pointee.lengthSum(payloadEntry..<entry) &- (entry &- payloadEntry)
        }
        payloadEntry = entry
        payloadByteCount = group.pointee.length(entry)
        target.storeBytes(of: UInt8(truncatingIfNeeded: group.pointee.first(entry)), as: UInt8.self)
        let further = block + rest
        if payloadByteCount <= 16 {
            // A few bytes are copied faster than a function is called.
            for place in 1..<max(payloadByteCount, 1) {
                target.storeBytes(of: further.u8(place &- 1), toByteOffset: place, as: UInt8.self)
            }
        } else {
            (target + 1).copyMemory(from: further, byteCount: payloadByteCount &- 1)
        }
    }

    /// Makes the key of an entry.
    @inline(__always)
    func write(_ entry: Int, to key: KeyCopy) {
        let payload = payload(entry)
        key.set(UnsafeRawPointer(term.start), term.byteCount)
        key.append(id: ids[entry], payload)
    }

    // MARK: Searching

    /// The first entry, from one on, whose identifier is not below another one; `count` if there is none.
    @inline(__always)
    func first(notBelow id: UInt64, from entry: Int) -> Int {
        identifiers.first(notBelow: id, in: entry..<count)
    }

    /// The end of the entries, from one on, that are below an identifier, each the only one of its identifier and
    /// followed by another one of the group; the entry itself if the group has two of one identifier.
    func endOfSingle(from entry: Int, below id: UInt64) -> Int {
        guard !hasRepeats else { return entry }
        let last = count &- 1
        return ids[last] < id ? last : min(first(notBelow: id, from: entry), last)
    }

    /// The identifiers of the group's entries, until the list moves.
    @inline(__always) var identifiers: UnsafePointer<UInt64> { UnsafePointer(ids) }

    /// The first entry of the group not below the rest of a key behind the term and its zero.
    private func first(notBelow rest: UnsafeRawBufferPointer) -> Int {
        // Bytes that are missing are below all others, as zeros are.
        var id: UInt64 = 0
        for place in 0..<8 { id = id &<< 8 | (place < rest.count ? UInt64(rest[place]) : 0) }
        var found = first(notBelow: id, from: 0)
        guard rest.count > 8 else { return found }
        let payload = UnsafeRawBufferPointer(rebasing: rest[8...])
        while found < count, ids[found] == id, KeyBytes.order(self.payload(found), payload) < 0 { found += 1 }
        return found
    }

    private enum TargetPlace {
        /// Above all entries of the group.
        case behind
        /// Not above any of them.
        case before
        /// Beginning with the term and its zero; the rest.
        case inside(UnsafeRawBufferPointer)
    }

    /// Where a key is beside the entries of a term.
    private static func place(of target: UnsafeRawBufferPointer, term: UnsafeRawBufferPointer) -> TargetPlace {
        let shared = KeyBytes.sharedByteCount(target, term)
        if shared < term.count {
            guard shared < target.count else { return .before }
            return target[shared] < term[shared] ? .before : .behind
        }
        guard shared < target.count else { return .before }
        return target[shared] == 0 ? .inside(UnsafeRawBufferPointer(rebasing: target[(shared + 1)...])) : .behind
    }
}

extension UnsafePointer<UInt64> {
    /// The first place in a range of ascending numbers whose number is not below another one; the range's end if there
    /// is none.
    @inline(__always)
    func first(notBelow number: UInt64, in range: Range<Int>) -> Int {
        // Steps that grow, because the next one wanted is mostly near.
        var low = range.lowerBound, step = 1
        while low &+ step < range.upperBound, self[low &+ step] < number {
            low &+= step
            step &*= 2
        }
        var high = min(low &+ step, range.upperBound)
        while low < high {
            let middle = (low &+ high) / 2
            if self[middle] < number { low = middle &+ 1 } else { high = middle }
        }
        return low
    }
}
