/// The entries behind a row's variable bytes: order keys that are not default keys.
///
/// Entries ascend by slot; each has 12 bytes: slot, reserved, key. Their size in bytes ends the row.
struct RowExtension {
    static let entryByteCount = 12
    static let sizeByteCount = 4

    let entries: UnsafeRawPointer
    let count: Int

    /// The extension of a row that was checked.
    init(of row: RowView) {
        let end = row.base + Int(row.byteCount)
        let byteCount = Int((end - Self.sizeByteCount).loadUnaligned(as: UInt32.self))
        entries = end - Self.sizeByteCount - byteCount
        count = byteCount / Self.entryByteCount
    }

    init(entries: UnsafeRawPointer, count: Int) {
        self.entries = entries
        self.count = count
    }

    func slot(at index: Int) -> UInt16 {
        entries.loadUnaligned(fromByteOffset: index * Self.entryByteCount, as: UInt16.self)
    }

    func key(at index: Int) -> UInt64 {
        entries.loadUnaligned(fromByteOffset: index * Self.entryByteCount + 4, as: UInt64.self)
    }

    /// The key of a slot of the layout in which the row is written.
    func key(ofSlot slot: UInt32) -> UInt64? {
        for index in 0..<count where UInt32(self.slot(at: index)) == slot { return key(at: index) }
        return nil
    }

    /// Whether slots ascend and exist in the layout, and reserved bytes are zero.
    func isSound(slotCount: UInt32) -> Bool {
        var least: UInt32 = 0
        for index in 0..<count {
            let slot = UInt32(self.slot(at: index))
            let reserved = entries.loadUnaligned(fromByteOffset: index * Self.entryByteCount + 2, as: UInt16.self)
            guard slot >= least, slot < slotCount, reserved == 0 else { return false }
            least = slot + 1
        }
        return true
    }
}
