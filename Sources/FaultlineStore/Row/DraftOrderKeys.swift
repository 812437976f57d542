/// The order keys of a draft that are not default keys, ascending by slot, in the form of a row's extension.
struct DraftOrderKeys {
    private(set) var count: Int
    private var capacity: Int
    private var entries: UnsafeMutableRawPointer

    var memoryByteCount: Int { MemoryLayout<DraftOrderKeys>.size + capacity * RowExtension.entryByteCount }

    /// Bytes of the extension with its size.
    var encodedByteCount: Int { count * RowExtension.entryByteCount + RowExtension.sizeByteCount }

    static func create() -> UnsafeMutablePointer<DraftOrderKeys> {
        let keys = UnsafeMutablePointer<DraftOrderKeys>.allocate(capacity: 1)
        keys.initialize(to: DraftOrderKeys(count: 0, capacity: 2, entries: room(2)))
        return keys
    }

    func copy(_ keys: UnsafeMutablePointer<DraftOrderKeys>) -> UnsafeMutablePointer<DraftOrderKeys> {
        let copy = UnsafeMutablePointer<DraftOrderKeys>.allocate(capacity: 1)
        let bytes = Self.room(capacity)
        bytes.copyMemory(from: entries, byteCount: count * RowExtension.entryByteCount)
        copy.initialize(to: DraftOrderKeys(count: count, capacity: capacity, entries: bytes))
        return copy
    }

    func destroy(_ keys: UnsafeMutablePointer<DraftOrderKeys>) {
        entries.deallocate()
        keys.deallocate()
    }

    func key(ofSlot slot: Int) -> UInt64? {
        RowExtension(entries: entries, count: count).key(ofSlot: UInt32(slot))
    }

    mutating func set(_ key: UInt64?, slot: Int) {
        let list = RowExtension(entries: entries, count: count)
        var index = 0
        while index < count, Int(list.slot(at: index)) < slot { index += 1 }
        let place = entries + index * RowExtension.entryByteCount
        let isThere = index < count && Int(list.slot(at: index)) == slot
        let behind = count - index - (isThere ? 1 : 0)
        guard let key else {
            if isThere {
                place.copyMemory(
                    from: place + RowExtension.entryByteCount,
                    byteCount: behind * RowExtension.entryByteCount
                )
                count -= 1
            }
            return
        }
        if !isThere {
            if count == capacity { grow() }
            let place = entries + index * RowExtension.entryByteCount
            (place + RowExtension.entryByteCount).copyMemory(
                from: place,
                byteCount: behind * RowExtension.entryByteCount
            )
            place.storeBytes(of: UInt16(slot), as: UInt16.self)
            place.storeBytes(of: 0, toByteOffset: 2, as: UInt16.self)
            count += 1
        }
        (entries + index * RowExtension.entryByteCount).storeBytes(of: key, toByteOffset: 4, as: UInt64.self)
    }

    func write(to bytes: UnsafeMutableRawPointer) {
        let byteCount = count * RowExtension.entryByteCount
        bytes.copyMemory(from: entries, byteCount: byteCount)
        bytes.storeBytes(of: UInt32(byteCount), toByteOffset: byteCount, as: UInt32.self)
    }

    private mutating func grow() {
        let larger = Self.room(capacity * 2)
        larger.copyMemory(from: entries, byteCount: count * RowExtension.entryByteCount)
        entries.deallocate()
        entries = larger
        capacity *= 2
    }

    private static func room(_ capacity: Int) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer.allocate(byteCount: capacity * RowExtension.entryByteCount, alignment: 8)
    }
}
