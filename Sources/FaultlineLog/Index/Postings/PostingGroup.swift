import FaultlineDisk

/// The header of a group in a block of postings, and the places of its columns.
///
/// Its numbers are checked as far as they have limits of their own; `PostingBlock.problem` checks the rest.
struct PostingGroup {
    let block: UnsafeRawPointer
    let sharedByteCount: Int
    let further: UnsafeRawPointer
    let furtherByteCount: Int
    let count: Int
    /// Some of the entries are deletes.
    let hasDeletes: Bool
    let firstID: UInt64
    let smallestLength: Int
    let smallestFirst: UInt8
    private let line: PostingBlock.Line
    private let smallestResidual: UInt64
    private let idWidth: Int
    private let sequenceWidth: Int
    private let lengthWidth: Int
    private let firstWidth: Int
    /// The first bit of the columns, counted from the block's start.
    private let columns: Int
    /// Where the payloads behind their first bytes are, in the block.
    let rest: Int
    /// The end of the group in the block.
    let end: Int

    /// Reads the header at `place` of a block that ends at `end`; nil if it is none.
    init?(_ block: UnsafeRawPointer, at place: Int, end blockEnd: Int) {
        var reader = PostingNumbers(block, place, end: blockEnd)
        self.block = block
        guard let shared = reader.byte(), let further = reader.byte(), let term = reader.bytes(Int(further)),
            let control = reader.number(), let offset = reader.number(), let residual = reader.number(),
            let length = reader.number(), let first = reader.byte()
        else { return nil }
        sharedByteCount = Int(shared)
        furtherByteCount = Int(further)
        self.further = term
        guard control < 2 * UInt64(PostingBlock.entryCountMax), length >= 1,
            length <= UInt64(PostingBlock.payloadByteCountMax)
        else { return nil }
        count = Int(control &>> 1) + 1
        hasDeletes = control & 1 != 0
        line = PostingBlock.Line(
            id: block[PostingBlock.Fields.id], sequence: block[PostingBlock.Fields.sequence],
            slope: block[PostingBlock.Fields.slope])
        firstID = line.id &+ UInt64(bitPattern: PostingBlock.signed(offset))
        smallestResidual = UInt64(bitPattern: PostingBlock.signed(residual))
        smallestLength = Int(length)
        smallestFirst = first
        var restByteCount = smallestLength - 1
        if count == 1 {
            (idWidth, sequenceWidth, lengthWidth, firstWidth) = (0, 0, 0, 0)
        } else {
            guard let id = reader.byte(), let sequence = reader.byte(), let both = reader.byte(),
                let rest = reader.number(), rest <= UInt64(IndexBlock.byteCountMax)
            else { return nil }
            (idWidth, sequenceWidth) = (Int(id), Int(sequence))
            (lengthWidth, firstWidth) = (Int(both & 15), Int(both &>> 4))
            restByteCount = Int(rest)
            guard idWidth <= PostingBlock.idWidthMax, sequenceWidth <= PostingBlock.sequenceWidthMax,
                lengthWidth <= PostingBlock.lengthWidthMax, firstWidth <= PostingBlock.firstWidthMax
            else { return nil }
        }
        columns = reader.place * 8
        var bits = (count - 1) * idWidth + count * (sequenceWidth + lengthWidth + firstWidth)
        if count > 1, hasDeletes { bits += count }
        guard reader.bytes((bits + 7) / 8) != nil else { return nil }
        rest = reader.place
        guard reader.bytes(restByteCount) != nil else { return nil }
        end = reader.place
    }

    /// The difference of an entry's identifier from that of the entry before.
    @inline(__always)
    func step(to entry: Int) -> UInt64 { PostingBlock.bits(block, columns &+ (entry &- 1) &* idWidth, idWidth) }

    /// The sequence number of an entry.
    @inline(__always)
    func sequence(_ entry: Int, id: UInt64) -> UInt64 {
        line.sequence(at: id) &+ smallestResidual
            &+ PostingBlock.bits(block, sequences &+ entry &* sequenceWidth, sequenceWidth)
    }

    @inline(__always)
    func isDelete(_ entry: Int) -> Bool {
        guard hasDeletes else { return false }
        return count == 1 || PostingBlock.bits(block, deletes &+ entry, 1) != 0
    }

    /// The bytes of an entry's payload.
    @inline(__always)
    func length(_ entry: Int) -> Int {
        smallestLength
            &+ Int(truncatingIfNeeded: PostingBlock.bits(block, lengths &+ entry &* lengthWidth, lengthWidth))
    }

    /// The bytes of the payloads of some entries, added up.
    ///
    /// The numbers of a column are counted bit by bit, as many of them at once as a word has.
    func lengthSum(_ entries: Range<Int>) -> Int {
        var sum = entries.count &* smallestLength
        guard lengthWidth > 0 else { return sum }
        let wordWidth = 56 / lengthWidth &* lengthWidth
        let lowest = Self.lowestBits[lengthWidth]
        var bit = lengths &+ entries.lowerBound &* lengthWidth
        let end = lengths &+ entries.upperBound &* lengthWidth
        while bit < end {
            let width = min(end &- bit, wordWidth)
            let word = PostingBlock.bits(block, bit, width)
            for place in 0..<lengthWidth {
                sum &+= (word &>> UInt64(truncatingIfNeeded: place) & lowest).nonzeroBitCount &<< place
            }
            bit &+= width
        }
        return sum
    }

    /// By width: a word with the lowest bit of each number.
    private static let lowestBits: [UInt64] = (0...PostingBlock.lengthWidthMax).map { width in
        width == 0 ? 0 : stride(from: 0, to: 64, by: width).reduce(0) { $0 | 1 << UInt64($1) }
    }

    /// The first byte of an entry's payload, of nine bits so that one too large is noticed.
    @inline(__always)
    func first(_ entry: Int) -> Int {
        Int(smallestFirst)
            &+ Int(truncatingIfNeeded: PostingBlock.bits(block, firsts &+ entry &* firstWidth, firstWidth))
    }

    @inline(__always) private var sequences: Int { columns &+ (count &- 1) &* idWidth }
    @inline(__always) private var deletes: Int { sequences &+ count &* sequenceWidth }
    @inline(__always) private var lengths: Int { deletes &+ (hasDeletes && count > 1 ? count : 0) }
    @inline(__always) private var firsts: Int { lengths &+ count &* lengthWidth }
}

/// Reads the numbers of a group, none behind an end.
private struct PostingNumbers {
    private let start: UnsafeRawPointer
    private(set) var place: Int
    private let end: Int

    init(_ start: UnsafeRawPointer, _ place: Int, end: Int) {
        self.start = start
        self.place = place
        self.end = end
    }

    @inline(__always)
    mutating func byte() -> UInt8? {
        guard place < end else { return nil }
        defer { place &+= 1 }
        return start.u8(place)
    }

    @inline(__always)
    mutating func bytes(_ count: Int) -> UnsafeRawPointer? {
        guard count <= end &- place else { return nil }
        defer { place &+= count }
        return start + place
    }

    /// A number in LEB128; nil if it ends behind the block, or has more than 64 bits.
    @inline(__always)
    mutating func number() -> UInt64? {
        guard let first = byte() else { return nil }
        if first < 128 { return UInt64(first) }
        var value = UInt64(first & 127), shift: UInt64 = 7
        while let next = byte() {
            guard shift < 63 || next <= 1 else { return nil }
            value |= UInt64(next & 127) &<< shift
            if next < 128 { return value }
            shift &+= 7
        }
        return nil
    }
}
