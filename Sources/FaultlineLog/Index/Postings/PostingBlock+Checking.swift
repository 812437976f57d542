import FaultlineDisk

extension PostingBlock {
    /// Checks everything that readers of a block rely on, whose size and checksum were checked.
    ///
    /// - Returns: The first fault, nil if there is none.
    /// - Complexity: The block's bytes and entries, which are at most 2,048.
    static func problem(in block: UnsafeRawBufferPointer) -> String? {
        guard let start = block.baseAddress, block.count >= headerByteCount else {
            return "the block of postings ends inside its header"
        }
        let entryCount = Int(start[IndexBlock.Fields.entryCount])
        guard entryCount > 0, entryCount <= entryCountMax else { return "the block has \(entryCount) postings" }
        guard start[Fields.reserved] == 0 else { return "a reserved byte of the block is not zero" }
        return withUnsafeTemporaryAllocation(byteCount: termByteCountMax, alignment: 8) { term in
            var checker = PostingChecker(block: start, term: term.baseAddress.unsafelyUnwrapped)
            var place = headerByteCount
            while place < block.count {
                guard let group = PostingGroup(start, at: place, end: block.count) else {
                    return "the header of a group is none, at byte \(place) of the block"
                }
                if let problem = checker.problem(in: group) { return problem }
                place = group.end
            }
            guard checker.entryCount == entryCount else {
                return "the block has \(checker.entryCount) postings, expected \(entryCount)"
            }
            return nil
        }
    }
}

/// Checks the groups of a block in their order.
private struct PostingChecker {
    let block: UnsafeRawPointer
    /// Room for the term of the last group.
    let term: UnsafeMutableRawPointer
    private var termByteCount = 0
    private(set) var entryCount = 0

    init(block: UnsafeRawPointer, term: UnsafeMutableRawPointer) {
        self.block = block
        self.term = term
    }

    mutating func problem(in group: PostingGroup) -> String? {
        let isFirst = entryCount == 0
        entryCount += group.count
        guard entryCount <= PostingBlock.entryCountMax else { return "the block has too many postings" }
        guard group.sharedByteCount <= termByteCount,
            group.sharedByteCount + group.furtherByteCount <= PostingBlock.termByteCountMax
        else { return "a term has an impossible size" }
        if !isFirst {
            // Behind the last term: a byte more, or a greater one.
            guard group.furtherByteCount > 0,
                group.sharedByteCount == termByteCount
                    || group.further.u8(0) > term.load(fromByteOffset: group.sharedByteCount, as: UInt8.self)
            else { return "a term is out of order" }
        }
        for place in 0..<group.furtherByteCount where group.further.u8(place) == 0 { return "a term has a zero" }
        (term + group.sharedByteCount).copyMemory(from: group.further, byteCount: group.furtherByteCount)
        termByteCount = group.sharedByteCount + group.furtherByteCount
        return problemInEntries(of: group)
    }

    private func problemInEntries(of group: PostingGroup) -> String? {
        var id = group.firstID
        var rest = group.rest
        var last: (sequence: UInt64, rest: Int, length: Int, first: Int) = (0, 0, 0, 0)
        for entry in 0..<group.count {
            let step = entry == 0 ? 0 : group.step(to: entry)
            // Neither is above 2^48, so the sum is no smaller than they are.
            guard id <= IndexBlock.idMax, step <= IndexBlock.idMax else { return "an identifier is too large" }
            id += step
            let sequence = group.sequence(entry, id: id)
            guard id <= IndexBlock.idMax, sequence <= IndexBlock.sequenceMax else {
                return "a posting has a number that is too large"
            }
            let length = group.length(entry), first = group.first(entry)
            guard first <= 0xFF, length <= PostingBlock.payloadByteCountMax, length - 1 <= group.end - rest else {
                return "a payload has an impossible size"
            }
            if entry > 0, step == 0 {
                var order = first - last.first
                if order == 0 { order = KeyBytes.order(block + rest, length - 1, block + last.rest, last.length - 1) }
                guard order > 0 || order == 0 && sequence < last.sequence else { return "a posting is out of order" }
            }
            last = (sequence, rest, length, first)
            rest += length - 1
        }
        return rest == group.end ? nil : "there are bytes behind the last payload of a term"
    }
}
