import FaultlineTestSupport

/// Damage to the files of a store.
package enum RotDamage: Equatable, Sendable {
    /// The bit is numbered from the lowest one of the first byte.
    case flippedBit(Int, path: String)
    case zeroedSector(Int, path: String)
    /// Two sectors of a file are swapped, as by misdirected writes.
    case swappedSectors(Int, Int, path: String)
    /// A sector has the contents from an earlier transaction, as after a lost write.
    case olderSector(Int, path: String, [UInt8])
    /// A sector has the contents of the same sector of another file.
    case strangeSector(Int, path: String, from: String)

    static let sectorByteCount = 512

    package var path: String {
        switch self {
        case .flippedBit(_, let path), .zeroedSector(_, let path), .swappedSectors(_, _, let path),
            .olderSector(_, let path, _), .strangeSector(_, let path, _):
            path
        }
    }

    /// Damages the files on a disk.
    ///
    /// - Returns: The offsets of the changed bytes, in ascending order.
    func apply(to disk: SimulatedDisk) -> [Int] {
        if case .flippedBit(let bit, let path) = self { return disk.flip(bit: bit, of: path) ? [bit / 8] : [] }
        let before = disk.bytes(of: path) ?? []
        var after = before
        switch self {
        case .flippedBit: break
        case .zeroedSector(let sector, _): Self.replace(sector, of: &after, by: [])
        case .olderSector(let sector, _, let bytes): Self.replace(sector, of: &after, by: bytes[...])
        case .strangeSector(let sector, _, let other):
            Self.replace(sector, of: &after, by: Self.sector(sector, of: disk.bytes(of: other) ?? []))
        case .swappedSectors(let first, let second, _):
            Self.replace(first, of: &after, by: Self.sector(second, of: before))
            Self.replace(second, of: &after, by: Self.sector(first, of: before))
        }
        let changed = before.indices.filter { before[$0] != after[$0] }
        for place in changed { disk.corrupt(path, at: place) { _ in after[place] } }
        return changed
    }

    /// Returns the bytes of a sector.
    ///
    /// The last one of a file may be short.
    static func sector(_ number: Int, of bytes: [UInt8]) -> ArraySlice<UInt8> {
        let start = min(number * sectorByteCount, bytes.count)
        return bytes[start..<min(start + sectorByteCount, bytes.count)]
    }

    /// Replaces the bytes of a sector, and fills the rest with zeros.
    ///
    /// The length of the file does not change.
    private static func replace(_ number: Int, of bytes: inout [UInt8], by other: ArraySlice<UInt8>) {
        let place = sector(number, of: bytes).indices
        for (index, offset) in place.enumerated() {
            bytes[offset] = index < other.count ? other[other.startIndex + index] : 0
        }
    }
}

extension RotDamage: CustomStringConvertible {
    package var description: String {
        switch self {
        case .flippedBit(let bit, let path): "\(path), bit \(bit % 8) of byte \(bit / 8)"
        case .zeroedSector(let sector, let path): "\(path), sector \(sector) zeroed"
        case .swappedSectors(let first, let second, let path): "\(path), sectors \(first) and \(second) swapped"
        case .olderSector(let sector, let path, _): "\(path), sector \(sector) as it was earlier"
        case .strangeSector(let sector, let path, let other): "\(path), sector \(sector) from \(other)"
        }
    }
}
