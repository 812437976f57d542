internal import Glibc
internal import Synchronization

/// The first bytes of a draft's block.
@usableFromInline
struct DraftHeader {
    @usableFromInline static var byteCount: Int {
        @inlinable @inline(__always) get { 40 }
    }

    @usableFromInline var table: UnsafePointer<LayoutTable>
    /// Slots set since the draft was created; bit 63 stands for all from 63 on.
    @usableFromInline var changedMask: UInt64
    /// Bytes of the block.
    var capacity: Int
    /// Bytes of the block in use: offsets in it have 32 bits.
    private var usedByteCount: UInt32
    /// Whether the stored row that the values were copied from has all its values in the row.
    var isOfPlainRow: Bool
    /// Order keys that are not the default ones; nil for none.
    var orderKeys: UnsafeMutablePointer<DraftOrderKeys>?

    /// Bytes of the block in use.
    @inline(__always) var used: Int {
        get { Int(usedByteCount) }
        set { usedByteCount = UInt32(newValue) }
    }
}

/// The position of a variable value in a draft's block.
struct DraftPlace {
    static let byteCount = 8

    /// Bytes from the start of the block.
    var offset: UInt32
    var byteCount: UInt32
}

/// Unsaved values of an object, in the form of the row that they will become.
///
/// One block of memory: header, the row's fixed area (end words hold flags only), the positions of the variable values,
/// marks of the slots from 63 on, the bytes of the values. A setter writes numbers and UTF-8 in their stored form, so
/// that saving copies bytes and decodes no value. Large values have separate allocations.
///
/// A draft is a pointer: its creator calls `destroy()` exactly once, and one thread at a time uses it. Setters of
/// variable values may move the block, and so change the pointer. The layout must outlive the draft.
@usableFromInline
package struct Draft {
    /// The size from which a value has a separate allocation until it is moved to the blob area.
    package static let detachedByteCountMin = 16_384
    /// The size of a block up to which copies of a draft get room for later values.
    private static let reservedByteCountMax = 4_096

    @usableFromInline package internal(set) var block: UnsafeMutableRawPointer

    /// Wraps a draft whose pointer was stored elsewhere.
    @inlinable @inline(__always)
    package init(block: UnsafeMutableRawPointer) { self.block = block }

    // MARK: Creating and destroying

    /// Creates a draft with optional values nil, and the others zero or empty.
    package static func create(layout: RowLayout) -> Draft {
        create(layout.table, room: Int(layout.draftRoom.load(ordering: .relaxed)))
    }

    private static func create(_ table: UnsafePointer<LayoutTable>, room: Int) -> Draft {
        let valuesOffset = Int(table.pointee.draftValuesOffset)
        let capacity = valuesOffset + room
        let block = allocate(capacity)
        // Safe because every layout's own table has a template of that many bytes, which names the table.
        block.copyMemory(from: table.pointee.draftTemplate.unsafelyUnwrapped, byteCount: valuesOffset)
        let draft = Draft(block: block)
        draft.header.pointee.capacity = capacity
        draft.header.pointee.used = valuesOffset
        return draft
    }

    /// Creates a draft with the values of a row; nothing is marked as changed.
    package static func create(copying row: RowView, layout: RowLayout) -> Draft {
        // Room for the row's own values, and some for one that grows.
        let room = max(Int(row.byteCount) - layout.fixedByteCount, 0) + 32
        var draft = create(layout.table, room: min(room, 8192))
        if row.table == layout.table {
            draft.copyWhole(row)
        } else {
            for slot in 0..<layout.columns.count { draft.copyValue(of: row, slot: slot) }
        }
        draft.copyOrderKeys(of: row)
        draft.clearMarks()
        draft.header.pointee.isOfPlainRow = !draft.hasBlobReference
        return draft
    }

    private var hasBlobReference: Bool {
        for ordinal in 0..<variableCount where flagsWord(ordinal).pointee & VariableEnd.blobFlag != 0 { return true }
        return false
    }

    /// Whether the stored row that the draft was made from has all its values in the row.
    ///
    /// False if that is not known.
    var isOfPlainRow: Bool { header.pointee.isOfPlainRow }

    /// Releases the draft's memory.
    package func destroy() {
        releaseDetached()
        let unused = header.pointee.capacity - header.pointee.used
        if unused > 256 { layout?.noteUnusedDraftRoom(unused) }
        if let keys = header.pointee.orderKeys { keys.pointee.destroy(keys) }
        free(block)
    }

    /// Creates another draft with the same values and marks.
    package func copy() -> Draft { copy(without: []) }

    /// Creates another draft in which some values, which have variable size, are empty: so large ones need not be
    /// copied.
    package func copy(without slots: [Int]) -> Draft {
        let left = slots.map { ordinal(of: table.slots[$0]) }
        let capacity = header.pointee.capacity
        let block = Self.allocate(capacity)
        block.copyMemory(from: self.block, byteCount: header.pointee.used)
        let copy = Draft(block: block)
        for ordinal in 0..<variableCount where flagsWord(ordinal).pointee & VariableEnd.detachedFlag != 0 {
            if left.contains(ordinal) {
                copy.flagsWord(ordinal).pointee &= ~VariableEnd.detachedFlag
                copy.place(ordinal).pointee.byteCount = 0
                continue
            }
            let value = copy.detached(ordinal)
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: max(value.pointee.count, 1), alignment: 8)
            if let source = value.pointee.baseAddress { bytes.copyMemory(from: source, byteCount: value.pointee.count) }
            value.pointee = UnsafeRawBufferPointer(start: bytes, count: value.pointee.count)
        }
        copy.header.pointee.orderKeys = header.pointee.orderKeys.map { $0.pointee.copy($0) }
        return copy
    }

    /// Creates another draft with the same marks in which some values are nil, zero or empty.
    ///
    /// A value in the blob area stays: it is deleted when the row is written without the attribute.
    func blanking(_ slots: [Int], _ layout: RowLayout) -> Draft {
        let slots = slots.filter { !layout.columns[$0].isVariable || blobReference($0) == nil }
        var copy = copy(without: slots.filter { layout.columns[$0].isVariable })
        for slot in slots { copy.setNil(slot) }
        copy.copyMarks(of: self)
        return copy
    }

    @inline(__always)
    private static func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
        guard let block = malloc(byteCount) else { preconditionFailure("The process is out of memory.") }
        return block
    }

    /// Bytes of memory that the draft takes.
    package var memoryByteCount: Int {
        var byteCount = header.pointee.capacity
        for ordinal in 0..<variableCount where flagsWord(ordinal).pointee & VariableEnd.detachedFlag != 0 {
            byteCount += detached(ordinal).pointee.count
        }
        if let keys = header.pointee.orderKeys { byteCount += keys.pointee.memoryByteCount }
        return byteCount
    }

    // MARK: Parts of the block

    @inlinable @inline(__always)
    var header: UnsafeMutablePointer<DraftHeader> {
        // Safe because the block starts with a header for as long as the draft lives.
        block.assumingMemoryBound(to: DraftHeader.self)
    }

    @inlinable @inline(__always)
    var table: UnsafePointer<LayoutTable> { header.pointee.table }

    /// The layout, which outlives the draft.
    private var layout: RowLayout? { table.pointee.layout?.takeUnretainedValue() }

    /// The row's fixed area.
    @inlinable @inline(__always)
    var fixedArea: UnsafeMutableRawPointer { block + DraftHeader.byteCount }

    /// The fixed area as a row: for getters of fixed values only.
    @inlinable @inline(__always)
    var fixedView: RowView { RowView(trusted: fixedArea, table: table) }

    @inline(__always)
    var variableCount: Int { Int(table.pointee.variableCount) }

    @inline(__always)
    func place(_ ordinal: Int) -> UnsafeMutablePointer<DraftPlace> {
        // Safe because the block has a place for every variable column there.
        (block + Int(table.pointee.draftPlacesOffset)).assumingMemoryBound(to: DraftPlace.self) + ordinal
    }

    /// Flags of a variable value, at the offset of the row's end word.
    @inline(__always)
    func flagsWord(_ ordinal: Int) -> UnsafeMutablePointer<UInt32> {
        // Safe because end words lie side by side, at a multiple of 8 as only wider fields come before them.
        (fixedArea + Int(table.pointee.endsOffset)).assumingMemoryBound(to: UInt32.self) + ordinal
    }

    /// The allocation of a value that has a separate one.
    @inline(__always)
    func detached(_ ordinal: Int) -> UnsafeMutablePointer<UnsafeRawBufferPointer> {
        // Safe because values with the flag hold a buffer, at a multiple of 8.
        (block + Int(place(ordinal).pointee.offset)).assumingMemoryBound(to: UnsafeRawBufferPointer.self)
    }

    private func releaseDetached() {
        for ordinal in 0..<variableCount where flagsWord(ordinal).pointee & VariableEnd.detachedFlag != 0 {
            detached(ordinal).pointee.deallocate()
        }
    }

    @inline(__always)
    func ordinal(of access: SlotAccess) -> Int {
        assert(access.isVariable, "The slot holds values of variable size.")
        return Int(access.offset &- table.pointee.endsOffset) >> 2
    }

    // MARK: Room for variable values

    /// Reserves bytes for a variable value in the block, and returns their address.
    @inline(__always)
    mutating func room(forOrdinal ordinal: Int, byteCount: Int, flags: UInt32) -> UnsafeMutableRawPointer {
        let word = flagsWord(ordinal)
        let place = place(ordinal)
        if word.pointee & VariableEnd.detachedFlag != 0 { release(ordinal) }
        if byteCount >= Self.detachedByteCountMin {
            return detachedRoom(forOrdinal: ordinal, byteCount: byteCount, flags)
        }
        if byteCount <= Int(place.pointee.byteCount) {
            place.pointee.byteCount = UInt32(truncatingIfNeeded: byteCount)
            word.pointee = flags
            return block + Int(place.pointee.offset)
        }
        let offset = header.pointee.used
        if offset &+ byteCount > header.pointee.capacity {
            return grownRoom(forOrdinal: ordinal, byteCount: byteCount, flags: flags)
        }
        header.pointee.used = offset &+ byteCount
        place.pointee = DraftPlace(
            offset: UInt32(truncatingIfNeeded: offset),
            byteCount: UInt32(truncatingIfNeeded: byteCount)
        )
        word.pointee = flags
        return block + offset
    }

    /// Frees a value's separate allocation.
    @inline(never)
    private func release(_ ordinal: Int) {
        detached(ordinal).pointee.deallocate()
        flagsWord(ordinal).pointee &= ~VariableEnd.detachedFlag
        place(ordinal).pointee.byteCount = 0
    }

    @inline(never)
    private mutating func detachedRoom(forOrdinal ordinal: Int, byteCount: Int, _ flags: UInt32)
        -> UnsafeMutableRawPointer
    {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 8)
        place(ordinal).pointee.byteCount = 0
        // Enough for the next multiple of 8 at any address: the block may move.
        let room = room(forOrdinal: ordinal, byteCount: 16 + 7, flags: flags)
        let start = Int(place(ordinal).pointee.offset)
        let aligned = (start + 7) / 8 * 8
        (room + (aligned - start)).initializeMemory(
            as: UnsafeRawBufferPointer.self,
            to: UnsafeRawBufferPointer(start: bytes, count: byteCount)
        )
        place(ordinal).pointee = DraftPlace(offset: UInt32(aligned), byteCount: 16)
        flagsWord(ordinal).pointee = flags | VariableEnd.detachedFlag
        return bytes
    }

    /// Moves the draft to a larger block, without the bytes of values that were replaced.
    @inline(never)
    private mutating func grownRoom(forOrdinal ordinal: Int, byteCount: Int, flags: UInt32) -> UnsafeMutableRawPointer {
        place(ordinal).pointee.byteCount = 0
        let live = byteCount + liveByteCount
        layout?.noteNeededDraftRoom(live)
        move(toRoom: live + live / 2 + 32)
        return room(forOrdinal: ordinal, byteCount: byteCount, flags: flags)
    }

    /// Bytes that the variable values need in a block.
    private var liveByteCount: Int { (0..<variableCount).reduce(0) { $0 + Int(place($1).pointee.byteCount) + 8 } }

    /// Gives back memory that a replaced value has left in the block; the draft moves.
    package mutating func trim() {
        let room = liveByteCount + 32
        guard header.pointee.capacity - Int(table.pointee.draftValuesOffset) > 2 * room + 256 else { return }
        move(toRoom: room)
    }

    /// Makes as much room for variable values as another draft of the layout has, within bounds, for copies that will
    /// get such values.
    package mutating func reserveRoom(of other: Draft) {
        let capacity = other.header.pointee.capacity
        guard capacity > header.pointee.capacity, capacity <= Self.reservedByteCountMax else { return }
        move(toRoom: capacity - Int(table.pointee.draftValuesOffset))
    }

    /// Moves the draft to a block with some room for variable values, without the bytes of values that were replaced.
    private mutating func move(toRoom room: Int) {
        let valuesOffset = Int(table.pointee.draftValuesOffset)
        let capacity = valuesOffset + room
        let old = self
        let block = Self.allocate(capacity)
        block.copyMemory(from: old.block, byteCount: valuesOffset)
        self.block = block
        header.pointee.capacity = capacity
        var used = valuesOffset
        for ordinal in 0..<variableCount {
            let count = Int(place(ordinal).pointee.byteCount)
            guard count > 0 else { continue }
            if flagsWord(ordinal).pointee & VariableEnd.detachedFlag != 0 { used = (used + 7) / 8 * 8 }
            (block + used).copyMemory(from: old.block + Int(old.place(ordinal).pointee.offset), byteCount: count)
            place(ordinal).pointee.offset = UInt32(used)
            used += count
        }
        header.pointee.used = used
        free(old.block)
    }
}
