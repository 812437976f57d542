import FaultlineTestSupport

/// A kind of damage to a manifest before its first edit.
struct ManifestRot: CustomStringConvertible {
    private enum Way: CaseIterable {
        /// The first sector reads as zeros.
        case zeroedSector
        /// A bit of the file header.
        case header
        /// A bit of the first frame.
        case snapshot
    }

    private let way: Way
    private let place: Int

    init(_ seed: Seed) {
        var random = seed
        way = random.pick(Way.allCases)
        place = random.below(1 << 20)
    }

    /// Damages the manifest at a path.
    func spoil(_ path: String, on disk: SimulatedDisk) {
        let byteCount = disk.bytes(of: path)?.count ?? 0
        switch way {
        case .zeroedSector:
            for offset in 0..<min(512, byteCount) { disk.corrupt(path, at: offset) { _ in 0 } }
        case .header:
            disk.flip(bit: place % (8 * min(64, max(byteCount, 1))), of: path)
        case .snapshot:
            disk.flip(bit: 8 * 64 + place % (8 * 48), of: path)
        }
    }

    /// Chooses one of several paths.
    func choose(_ paths: [String]) -> String? { paths.isEmpty ? nil : paths[place % paths.count] }

    var description: String { "\(way), \(place)" }
}
