import FaultlineDisk

/// Builds blocks of postings: docs/format/Postings.md.
///
/// Entries of a group wait until the term ends, because the widths of its columns are known only then. The line through
/// the sequence numbers of a block is that of the block before.
final class PostingBlockBuilder {
    /// A posting.
    struct Entry {
        let id: UInt64
        let sequence: UInt64
        /// The sequence number, less that on the block's line.
        fileprivate var residual: Int64 = 0
        fileprivate let payloadByteCount: UInt16
        fileprivate let first: UInt8
        let isDelete: Bool

        /// - Parameters:
        ///   - parts: The parts of its key.
        ///   - id: At most `IndexBlock.idMax`.
        ///   - sequence: At most `IndexBlock.sequenceMax`.
        ///   - isDelete: The entry means that the identifier no longer has the key.
        @inline(__always)
        init(_ parts: PostingKey, id: UInt64, sequence: UInt64, isDelete: Bool) {
            self.id = id
            self.sequence = sequence
            payloadByteCount = UInt16(truncatingIfNeeded: parts.payloadByteCount)
            first = parts.payload.u8(0)
            self.isDelete = isDelete
        }
    }

    /// The values that determine the header of a group, and the widths of its columns.
    private struct Extent {
        var count = 0
        var largestStep: UInt64 = 0
        var smallestResidual = Int64.max
        var largestResidual = Int64.min
        var smallestLength = Int.max
        var largestLength = 0
        var smallestFirst = UInt8.max
        var largestFirst: UInt8 = 0
        var hasDeletes = false
        /// Bytes of payloads behind their first ones.
        var restByteCount = 0

        @inline(__always)
        mutating func add(_ entry: Entry, step: UInt64) {
            count &+= 1
            largestStep = max(largestStep, step)
            smallestResidual = min(smallestResidual, entry.residual)
            largestResidual = max(largestResidual, entry.residual)
            smallestLength = min(smallestLength, Int(entry.payloadByteCount))
            largestLength = max(largestLength, Int(entry.payloadByteCount))
            smallestFirst = min(smallestFirst, entry.first)
            largestFirst = max(largestFirst, entry.first)
            hasDeletes = hasDeletes || entry.isDelete
            restByteCount &+= Int(entry.payloadByteCount) &- 1
        }

        @inline(__always) var idWidth: Int { PostingBlock.width(largestStep) }
        @inline(__always) var sequenceWidth: Int {
            PostingBlock.width(UInt64(bitPattern: largestResidual &- smallestResidual))
        }
        @inline(__always) var lengthWidth: Int { PostingBlock.width(UInt64(largestLength &- smallestLength)) }
        @inline(__always) var firstWidth: Int { PostingBlock.width(UInt64(largestFirst &- smallestFirst)) }
        @inline(__always) var control: UInt64 { UInt64(count &- 1) &<< 1 | (hasDeletes ? 1 : 0) }

        /// Bytes of the group behind its term and its first identifier.
        @inline(__always) var byteCount: Int {
            let numbers =
                PostingBlock.varintByteCount(control)
                &+ PostingBlock.varintByteCount(PostingBlock.zigzag(smallestResidual))
                &+ PostingBlock.varintByteCount(UInt64(smallestLength)) &+ 1
            if count == 1 { return numbers &+ restByteCount }
            let bits =
                (count &- 1) &* idWidth
                &+ count &* (sequenceWidth &+ lengthWidth &+ firstWidth &+ (hasDeletes ? 1 : 0))
            return numbers &+ 3 &+ PostingBlock.varintByteCount(UInt64(restByteCount)) &+ (bits &+ 7) / 8
                &+ restByteCount
        }
    }

    private let entries: UnsafeMutablePointer<Entry>
    /// The block.
    private let start: UnsafeMutableRawPointer
    /// Payloads of the group, without their first bytes.
    private let rest: UnsafeMutableRawPointer
    private var line = PostingBlock.Line()
    private var nextSlope: UInt32 = 0
    /// The end of the finished groups.
    private var place = PostingBlock.headerByteCount
    private(set) var entryCount = 0
    // The group.
    private var extent = Extent()
    private var firstOfGroup = 0
    private var sharedByteCount = 0
    private var furtherByteCount = 0
    /// The bytes of the group's term, which is that of the last posting.
    private(set) var termByteCount = 0
    private let further: UnsafeMutableRawPointer

    static let memoryByteCount =
        PostingBlock.entryCountMax * MemoryLayout<Entry>.stride + 2 * PostingBlock.byteCountMax
        + PostingBlock.termByteCountMax

    init() {
        entries = BufferMemory.allocate(Entry.self, capacity: PostingBlock.entryCountMax)
        start = BufferMemory.allocate(byteCount: PostingBlock.byteCountMax)
        rest = BufferMemory.allocate(byteCount: PostingBlock.byteCountMax)
        further = BufferMemory.allocate(byteCount: PostingBlock.termByteCountMax)
    }

    deinit {
        BufferMemory.deallocate(entries, capacity: PostingBlock.entryCountMax)
        BufferMemory.deallocate(start, byteCount: PostingBlock.byteCountMax)
        BufferMemory.deallocate(rest, byteCount: PostingBlock.byteCountMax)
        BufferMemory.deallocate(further, byteCount: PostingBlock.termByteCountMax)
    }

    /// Appends a posting if there is room, as there is in an empty block; if not, finish the block first.
    ///
    /// - Parameters:
    ///   - posting: The posting.
    ///   - key: Its whole key.
    ///   - parts: The parts of the key.
    ///   - shared: The bytes that the key shares with the entry before.
    /// - Returns: False if the block would become too large.
    @inline(__always)
    func append(_ posting: Entry, key: UnsafeRawPointer, _ parts: PostingKey, shared: Int) -> Bool {
        let id = posting.id
        if entryCount == 0 {
            line = PostingBlock.Line(id: id, sequence: posting.sequence, slope: nextSlope)
            begin(key, parts.termByteCount, shared: 0)
        } else if shared <= termByteCount {
            guard entryCount < PostingBlock.entryCountMax else { return false }
            finishGroup()
            begin(key, parts.termByteCount, shared: shared)
        }
        var entry = posting
        entry.residual = Int64(bitPattern: entry.sequence &- line.sequence(at: id))
        var wider = extent
        wider.add(entry, step: extent.count == 0 ? 0 : id &- (entries + (entryCount &- 1)).pointee.id)
        if entryCount > 0 {
            let firstID = extent.count == 0 ? id : (entries + firstOfGroup).pointee.id
            let byteCount =
                place &+ 2 &+ furtherByteCount &+ PostingBlock.varintByteCount(offset(of: firstID)) &+ wider.byteCount
            guard byteCount <= IndexBlock.headerByteCount + IndexBlock.entryBlockByteCountMax,
                entryCount < PostingBlock.entryCountMax, wider.sequenceWidth <= PostingBlock.sequenceWidthMax
            else { return false }
        }
        (entries + entryCount).initialize(to: entry)
        (rest + extent.restByteCount).copyMemory(from: parts.payload + 1, byteCount: parts.payloadByteCount &- 1)
        extent = wider
        entryCount &+= 1
        return true
    }

    /// Writes the header and the last group, and begins another block.
    ///
    /// - Parameter seed: `FileHeader.seed` of the block's offset.
    /// - Returns: The whole block; its bytes are valid until the next call.
    func finish(seed: UInt32) -> UnsafeRawBufferPointer {
        finishGroup()
        start[IndexBlock.Fields.bodyByteCount] = UInt16(truncatingIfNeeded: place - IndexBlock.headerByteCount)
        start[IndexBlock.Fields.entryCount] = UInt16(truncatingIfNeeded: entryCount)
        start[PostingBlock.Fields.form] = PostingBlock.form
        start[PostingBlock.Fields.reserved] = 0
        start[PostingBlock.Fields.id] = line.id
        start[PostingBlock.Fields.sequence] = line.sequence
        start[PostingBlock.Fields.slope] = line.slope
        start[IndexBlock.Fields.checksum] = CRC32C.checksum(start + 4, place - 4, seed: seed)
        let block = UnsafeRawBufferPointer(start: start, count: place)
        nextSlope = slopeOfEntries()
        place = PostingBlock.headerByteCount
        entryCount = 0
        return block
    }

    @inline(__always)
    private func offset(of id: UInt64) -> UInt64 { PostingBlock.zigzag(Int64(bitPattern: id &- line.id)) }

    private func begin(_ key: UnsafeRawPointer, _ termByteCount: Int, shared: Int) {
        firstOfGroup = entryCount
        sharedByteCount = shared
        furtherByteCount = termByteCount &- shared
        self.termByteCount = termByteCount
        further.copyMemory(from: key + shared, byteCount: furtherByteCount)
        extent = Extent()
    }

    private func finishGroup() {
        guard extent.count > 0 else { return }
        let group = UnsafeBufferPointer(start: entries + firstOfGroup, count: extent.count)
        append(UInt8(truncatingIfNeeded: sharedByteCount))
        append(UInt8(truncatingIfNeeded: furtherByteCount))
        (start + place).copyMemory(from: further, byteCount: furtherByteCount)
        place &+= furtherByteCount
        append(varint: extent.control)
        append(varint: offset(of: group[0].id))
        append(varint: PostingBlock.zigzag(extent.smallestResidual))
        append(varint: UInt64(extent.smallestLength))
        append(extent.smallestFirst)
        if extent.count > 1 {
            append(UInt8(truncatingIfNeeded: extent.idWidth))
            append(UInt8(truncatingIfNeeded: extent.sequenceWidth))
            append(UInt8(truncatingIfNeeded: extent.lengthWidth | extent.firstWidth &<< 4))
            append(varint: UInt64(extent.restByteCount))
            appendColumns(of: group)
        }
        (start + place).copyMemory(from: rest, byteCount: extent.restByteCount)
        place &+= extent.restByteCount
        extent = Extent()
    }

    private func appendColumns(of group: UnsafeBufferPointer<Entry>) {
        var bits = BitWriter(start + place)
        let idWidth = extent.idWidth, sequenceWidth = extent.sequenceWidth
        for place in 1..<group.count { bits.append(group[place].id &- group[place &- 1].id, idWidth) }
        for entry in group {
            bits.append(UInt64(bitPattern: entry.residual &- extent.smallestResidual), sequenceWidth)
        }
        if extent.hasDeletes { for entry in group { bits.append(entry.isDelete ? 1 : 0, 1) } }
        let lengthWidth = extent.lengthWidth, firstWidth = extent.firstWidth
        for entry in group {
            bits.append(UInt64(truncatingIfNeeded: Int(entry.payloadByteCount) &- extent.smallestLength), lengthWidth)
        }
        for entry in group { bits.append(UInt64(entry.first &- extent.smallestFirst), firstWidth) }
        place &+= bits.finish()
    }

    @inline(__always)
    private func append(_ byte: UInt8) {
        start.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
        place &+= 1
    }

    private func append(varint number: UInt64) {
        var left = number
        while left >= 128 {
            append(UInt8(truncatingIfNeeded: left) | 128)
            left &>>= 7
        }
        append(UInt8(truncatingIfNeeded: left))
    }

    /// The slope of the line from the entry of the smallest identifier to that of the largest, if the block's entries
    /// are closer to it than to a level one.
    private func slopeOfEntries() -> UInt32 {
        let all = UnsafeBufferPointer(start: entries, count: entryCount)
        var low = all[0], high = all[0]
        for entry in all {
            if entry.id < low.id { low = entry }
            if entry.id > high.id { high = entry }
        }
        guard high.id > low.id, high.sequence > low.sequence else { return 0 }
        let rise = high.sequence &- low.sequence, run = high.id &- low.id
        guard rise < 1 << 47, let slope = UInt32(exactly: rise &<< 16 / run) else { return 0 }
        let steep = PostingBlock.Line(id: low.id, sequence: low.sequence, slope: slope)
        var distance = 0.0, levelDistance = 0.0
        let middle = Double(low.sequence) + Double(rise) / 2
        for entry in all {
            distance += abs(Double(Int64(bitPattern: entry.sequence &- steep.sequence(at: entry.id))))
            levelDistance += abs(Double(entry.sequence) - middle)
        }
        return distance < levelDistance ? slope : 0
    }
}

/// Writes numbers of some bits, one behind the other, from the lowest bit of a byte on.
private struct BitWriter {
    private let start: UnsafeMutableRawPointer
    private var place = 0
    private var word: UInt64 = 0
    private var count = 0

    init(_ start: UnsafeMutableRawPointer) { self.start = start }

    /// Appends a number of at most 56 bits.
    @inline(__always)
    mutating func append(_ number: UInt64, _ width: Int) {
        word |= number &<< UInt64(truncatingIfNeeded: count)
        count &+= width
        while count >= 8 {
            start.storeBytes(of: UInt8(truncatingIfNeeded: word), toByteOffset: place, as: UInt8.self)
            place &+= 1
            word &>>= 8
            count &-= 8
        }
    }

    /// Fills the last byte up; returns the bytes written.
    mutating func finish() -> Int {
        if count > 0 {
            start.storeBytes(of: UInt8(truncatingIfNeeded: word), toByteOffset: place, as: UInt8.self)
            place &+= 1
        }
        return place
    }
}
