import FaultlineDisk

extension IndexBlock {
    /// Checks everything that readers of a block rely on: checksum, sizes, order, and that each entry shares as many
    /// bytes as it can.
    ///
    /// `seed` is `FileHeader.seed` of the block's offset.
    ///
    /// - Returns: The first fault, nil if there is none.
    static func problem(in block: UnsafeRawBufferPointer, isIndex: Bool, seed: UInt32) -> String? {
        guard let start = block.baseAddress, block.count >= headerByteCount else {
            return "the block ends inside its header"
        }
        guard byteCount(start) == block.count else {
            return "the block's size is \(byteCount(start)), expected \(block.count)"
        }
        let expected = start[Fields.checksum]
        let found = CRC32C.checksum(start + 4, block.count - 4, seed: seed)
        guard expected == found else { return "the block's checksum is \(found), expected \(expected)" }
        if !isIndex, PostingBlock.isForm(start) { return PostingBlock.problem(in: block) }
        let entries = BlockEntries(start)
        guard entries.count > 0 else { return "the block has no entries" }
        guard entries.idByteCount <= idByteCountMax, entries.sequenceByteCount <= sequenceByteCountMax else {
            return "the block's numbers are wider than any"
        }
        guard start[Fields.smallestSequence] <= sequenceMax else {
            return "the block's smallest sequence number is too large"
        }
        guard entries.keysOffset <= block.count else { return "the entries lie beyond the block" }
        // A key's bytes all lie in the block, so this buffer has room for every key.
        return withUnsafeTemporaryAllocation(byteCount: block.count, alignment: 8) { key in
            problem(in: entries, end: start + block.count, key.baseAddress.unsafelyUnwrapped, isIndex: isIndex)
        }
    }

    /// Checks the entries; `key` is a buffer to assemble keys in.
    private static func problem(
        in entries: BlockEntries, end: UnsafeRawPointer, _ key: UnsafeMutableRawPointer, isIndex: Bool
    ) -> String? {
        var further = entries.keys
        var keyByteCount = 0
        var last: (id: UInt64, sequence: UInt64) = (0, 0)
        for ordinal in 0..<entries.count {
            let lengths = entries.lengths(ordinal)
            guard lengths.further <= end - further else { return "the key of entry \(ordinal) lies beyond the block" }
            guard lengths.shared <= keyByteCount, lengths.key <= IndexDefinition.keyByteCountMax else {
                return "entry \(ordinal) has a key of impossible size"
            }
            let id = entries.id(ordinal)
            let sequence = entries.sequence(ordinal)
            guard id <= idMax, sequence <= sequenceMax else { return "entry \(ordinal) has a number that is too large" }
            guard !isIndex || !entries.isDelete(ordinal) else { return "entry \(ordinal) deletes a block" }
            if ordinal > 0 {
                let isAscending =
                    if lengths.shared < keyByteCount {
                        lengths.further > 0
                            && further.u8(0) > key.load(fromByteOffset: lengths.shared, as: UInt8.self)
                    } else if lengths.further > 0 || isIndex {
                        true
                    } else {
                        id > last.id || (id == last.id && sequence < last.sequence)
                    }
                guard isAscending else { return "entry \(ordinal) is out of order" }
            }
            (key + lengths.shared).copyMemory(from: further, byteCount: lengths.further)
            keyByteCount = lengths.key
            last = (id, sequence)
            further += lengths.further
        }
        return further == end ? nil : "there are bytes behind the last entry"
    }
}
