import FaultlineDisk

/// The groups of a verified block of postings, one after the other, each with its entries decoded.
///
/// Identifiers are decoded with the group, payloads when one is asked for, sequence numbers each by itself. Memory: at
/// most 12 bytes an entry, of which a block has 2,048, and the payloads.
final class PostingList {
    // Properties are unchecked. Safe because no access to one calls anything, and a list is not for two threads.

    /// The term of the group.
    let term = KeyCopy()
    @exclusivity(unchecked) private var group: PostingGroup?
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private var ids: UnsafeMutablePointer<UInt64>
    private var capacity = 16
    @exclusivity(unchecked) private var nextGroup = 0
    @exclusivity(unchecked) private var block: UnsafeRawPointer
    @exclusivity(unchecked) private var blockEnd = 0
    // Payloads, with their first bytes.
    @exclusivity(unchecked) private var arePayloadsThere = false
    @exclusivity(unchecked) private var ends: UnsafeMutablePointer<UInt32>
    @exclusivity(unchecked) private var payloads: UnsafeMutableRawBufferPointer

    init() {
        ids = .allocate(capacity: capacity)
        ends = .allocate(capacity: capacity)
        payloads = .allocate(byteCount: 64, alignment: 8)
        block = UnsafeRawPointer(ids)
    }

    deinit {
        ids.deallocate()
        ends.deallocate()
        payloads.deallocate()
    }

    /// Begins before the first group of a block, which stays in memory until the list begins another.
    func begin(_ block: UnsafeRawBufferPointer) {
        guard let start = block.baseAddress else { return end() }
        self.block = start
        blockEnd = block.count
        nextGroup = PostingBlock.headerByteCount
        group = nil
        count = 0
    }

    /// Has no groups.
    func end() {
        group = nil
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
        group = nil
        count = 0
        return next
    }

    private func decode(_ next: PostingGroup) {
        group = next
        count = next.count
        arePayloadsThere = false
        if count > capacity {
            ids.deallocate()
            ends.deallocate()
            capacity = count * 2
            ids = .allocate(capacity: capacity)
            ends = .allocate(capacity: capacity)
        }
        let target = ids
        var id = next.firstID
        target[0] = id
        for entry in 1..<max(next.count, 1) {
            id &+= next.step(to: entry)
            target[entry] = id
        }
    }

    @inline(__always)
    func id(_ entry: Int) -> UInt64 { ids[entry] }

    @inline(__always)
    func sequence(_ entry: Int) -> UInt64 { group.unsafelyUnwrapped.sequence(entry, id: ids[entry]) }

    @inline(__always)
    func isDelete(_ entry: Int) -> Bool { group.unsafelyUnwrapped.isDelete(entry) }

    /// The payload of an entry, valid until the list moves to another group.
    @inline(__always)
    func payload(_ entry: Int) -> UnsafeRawBufferPointer {
        if !arePayloadsThere { decodePayloads() }
        let start = entry == 0 ? 0 : Int(ends[entry &- 1])
        return UnsafeRawBufferPointer(rebasing: payloads[start..<Int(ends[entry])])
    }

    @inline(never)
    private func decodePayloads() {
        guard let group else { return }
        arePayloadsThere = true
        let byteCount = group.end - group.rest + count
        if byteCount > payloads.count {
            payloads.deallocate()
            payloads = .allocate(byteCount: byteCount * 2, alignment: 8)
        }
        guard let target = payloads.baseAddress else { return }
        let ends = ends
        var place = 0
        var rest = block + group.rest
        for entry in 0..<group.count {
            let length = group.length(entry)
            target.storeBytes(of: UInt8(truncatingIfNeeded: group.first(entry)), toByteOffset: place, as: UInt8.self)
            if length == 2 {
                target.storeBytes(of: rest.u8(0), toByteOffset: place &+ 1, as: UInt8.self)
            } else {
                (target + (place &+ 1)).copyMemory(from: rest, byteCount: length &- 1)
            }
            rest += length &- 1
            place &+= length
            ends[entry] = UInt32(truncatingIfNeeded: place)
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
        // Steps that grow, because the next one wanted is mostly near.
        var low = entry, step = 1
        while low &+ step < count, ids[low &+ step] < id {
            low &+= step
            step &*= 2
        }
        var high = min(low &+ step, count)
        while low < high {
            let middle = (low &+ high) / 2
            if ids[middle] < id { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

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
