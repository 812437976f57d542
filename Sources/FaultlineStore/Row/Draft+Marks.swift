/// Marks of changed slots from 63 on, which share one bit of the mask in the header.
///
/// One bit for each slot, before the bytes of the variable values. Drafts of fewer slots have none.
enum DraftMarks {
    /// The first slot that shares its bit of the mask in the header.
    @inline(__always) static var first: Int { 63 }

    static func wordCount(_ slotCount: Int) -> Int { slotCount <= first ? 0 : (slotCount - first + 63) / 64 }

    static func byteCount(_ slotCount: Int) -> Int { wordCount(slotCount) * MemoryLayout<UInt64>.size }

    /// The word of a slot, and its bit there.
    @inline(__always)
    static func place(of slot: Int) -> (word: Int, bit: UInt64) {
        let position = slot - first
        return (position >> 6, 1 &<< UInt64(position & 63))
    }
}

extension Draft {
    /// Marks a slot as changed; setters do.
    @inlinable @inline(__always)
    package func mark(_ slot: Int) {
        header.pointee.changedMask |= 1 << UInt64(min(slot, 63))
        if slot >= 63 { markShared(slot) }
    }

    package func markAll() {
        header.pointee.changedMask = .max
        marks.update(repeating: .max)
    }

    package func clearMarks() {
        header.pointee.changedMask = 0
        marks.update(repeating: 0)
    }

    /// Bit n: slot n was set; bit 63: any slot from 63 on.
    package var changedMask: UInt64 { header.pointee.changedMask }

    /// Whether a slot was set.
    @inline(__always)
    package func isChanged(_ slot: Int) -> Bool {
        guard slot >= DraftMarks.first else { return header.pointee.changedMask & 1 &<< UInt64(slot) != 0 }
        return isSharedChanged(slot)
    }

    /// Whether any of some slots was set; `mask` is their mask.
    @inline(__always)
    package func isChanged(anyOf slots: [Int], mask: UInt64) -> Bool {
        let common = header.pointee.changedMask & mask
        if common == 0 { return false }
        // Each bit below bit 63 belongs to one slot.
        return common << 1 != 0 || slots.contains { isChanged($0) }
    }

    /// Marks the slots that another draft of the same layout has marked, and no others.
    func copyMarks(of other: Draft) {
        header.pointee.changedMask = other.changedMask
        _ = marks.update(fromContentsOf: other.marks)
    }

    /// Calls `body`, which sets one slot, and restores the marks.
    @inline(__always)
    mutating func withoutMarking(_ slot: Int, _ body: (inout Draft) -> Void) {
        let mask = changedMask
        let wasChanged = isChanged(slot)
        body(&self)
        header.pointee.changedMask = mask
        if !wasChanged { takeBackMark(of: slot, mask: mask) }
    }

    /// Makes a slot count as not set.
    ///
    /// - Parameters:
    ///   - slot: A slot.
    ///   - mask: What `changedMask` was before the slot was marked.
    package func takeBackMark(of slot: Int, mask: UInt64) {
        header.pointee.changedMask = mask
        guard slot >= DraftMarks.first else { return }
        let place = DraftMarks.place(of: slot)
        marks[place.word] &= ~place.bit
    }

    private var marks: UnsafeMutableBufferPointer<UInt64> {
        let count = DraftMarks.wordCount(Int(table.pointee.slotCount))
        let end = block + Int(table.pointee.draftValuesOffset)
        // Safe because the words lie in front of the values, at a multiple of 8 as all before them are.
        let start = (end - count * MemoryLayout<UInt64>.size).assumingMemoryBound(to: UInt64.self)
        return UnsafeMutableBufferPointer(start: start, count: count)
    }

    @usableFromInline @inline(never)
    func markShared(_ slot: Int) {
        let place = DraftMarks.place(of: slot)
        marks[place.word] |= place.bit
    }

    @inline(never)
    private func isSharedChanged(_ slot: Int) -> Bool {
        let place = DraftMarks.place(of: slot)
        return marks[place.word] & place.bit != 0
    }
}
