import FaultlineLog
import FaultlineTestSupport

/// The tables of the writers' objects, and the contents of the objects.
///
/// The bytes are computed from the seed of the store, the slot and the version, which is the number of the transaction
/// that wrote the object.
struct KillValues {
    /// A table with a unique index over the first 8 bytes.
    static let keyedTable = TableID(rawValue: 16)
    /// A table with an index over the first byte.
    static let groupedTable = TableID(rawValue: 17)
    static let owningTable = TableID(rawValue: 18)
    /// A table with one object for each writer: the number of its committed transactions.
    static let progressTable = TableID(rawValue: 19)
    /// The size of a row's header, which holds the key or group, the slot and the version.
    static let headByteCount = 16

    let seed: UInt64

    static func table(of kind: KillChange.Kind) -> TableID {
        switch kind {
        case .keyed: keyedTable
        case .grouped: groupedTable
        case .owning: owningTable
        }
    }

    /// Returns the row of an object.
    ///
    /// The blob's identifier, which follows in the row of an owner, is missing.
    func row(_ kind: KillChange.Kind, writer: Int, slot: Int, version: UInt64) -> [UInt8] {
        // The key alternates between two values from version to version.
        var row = [UInt8(writer), UInt8(slot), kind.rawValue, 0, 0, 0, 0, UInt8(truncatingIfNeeded: version & 1)]
        for shift in stride(from: 0, to: 64, by: 8) { row.append(UInt8(truncatingIfNeeded: version >> UInt64(shift))) }
        if kind == .owning { return row }
        var random = random(kind, writer, slot, version)
        row += random.bytes(random.below(random.oneIn(10) ? 900 : 60))
        return row
    }

    /// Returns the blob of an owner.
    func blob(writer: Int, slot: Int, version: UInt64) -> [UInt8] {
        var random = random(.owning, writer, slot, version)
        let byteCount = random.pick([10, 700, 700, 5_000, 5_000, 70_000]) + random.below(9)
        return random.oneIn(2)
            ? random.bytes(byteCount) : [UInt8](repeating: UInt8(random.below(256)), count: byteCount)
    }

    /// Returns the origin of a row according to its header, or `nil` if the header is invalid.
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
