import FaultlineLog
import FaultlineTestSupport

/// Where a writer's objects are, and what they say: bytes that follow from the store's seed, the slot and the version,
/// which is the number of the transaction that wrote it.
struct KillValues {
    /// With a unique index over their first 8 bytes.
    static let keyedTable = TableID(rawValue: 16)
    /// With an index over their first byte.
    static let groupedTable = TableID(rawValue: 17)
    static let owningTable = TableID(rawValue: 18)
    /// One object a writer: how many transactions it has committed.
    static let progressTable = TableID(rawValue: 19)
    /// Bytes of a row that say whose it is: key or group, slot, version.
    static let headByteCount = 16

    let seed: UInt64

    static func table(of kind: KillChange.Kind) -> TableID {
        switch kind {
        case .keyed: keyedTable
        case .grouped: groupedTable
        case .owning: owningTable
        }
    }

    /// The row of an object; that of an owner without the blob's identifier, which follows it.
    func row(_ kind: KillChange.Kind, writer: Int, slot: Int, version: UInt64) -> [UInt8] {
        // The key changes from version to version, and comes back.
        var row = [UInt8(writer), UInt8(slot), kind.rawValue, 0, 0, 0, 0, UInt8(truncatingIfNeeded: version & 1)]
        for shift in stride(from: 0, to: 64, by: 8) { row.append(UInt8(truncatingIfNeeded: version >> UInt64(shift))) }
        if kind == .owning { return row }
        var random = random(kind, writer, slot, version)
        row += random.bytes(random.below(random.oneIn(10) ? 900 : 60))
        return row
    }

    /// The blob of an owner.
    func blob(writer: Int, slot: Int, version: UInt64) -> [UInt8] {
        var random = random(.owning, writer, slot, version)
        let byteCount = random.pick([10, 700, 700, 5_000, 5_000, 70_000]) + random.below(9)
        return random.oneIn(2)
            ? random.bytes(byteCount) : [UInt8](repeating: UInt8(random.below(256)), count: byteCount)
    }

    /// Whose row it is, as it says itself; nil if it is nobody's.
    static func origin(of row: UnsafeRawBufferPointer) -> (
        kind: KillChange.Kind, writer: Int, slot: Int, version: UInt64
    )? {
        guard row.count >= headByteCount, let kind = KillChange.Kind(rawValue: row[2]), row[0] < KillModel.writerCount,
            row[1] < kind.slotCount
        else { return nil }
        return (kind, Int(row[0]), Int(row[1]), row.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    private func random(_ kind: KillChange.Kind, _ writer: Int, _ slot: Int, _ version: UInt64) -> Seed {
        let place = UInt64(kind.rawValue) << 16 | UInt64(writer) << 8 | UInt64(slot)
        return Seed(seed &+ place &* 0xD6E8_FEB8_6659_FD93 &+ version &* 0xA076_1D64_78BD_642F)
    }
}
