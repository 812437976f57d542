internal import FaultlineTestSupport
internal import FaultlineDisk
internal import Synchronization

/// Disks that power cuts would leave while threads work, each with the newest save that had returned before the cut.
final class SerialCuts: Sendable {
    struct Cut {
        let disk: SimulatedDisk
        /// A save that was acknowledged before the cut.
        let floor: Int
    }

    /// The number of power cuts in one life.
    private static let cutCount = 3
    /// The number of disk operations within which they happen.
    private static let operationMax = 1_200

    private let cuts = Guarded<[Cut]>([])

    /// Arranges power cuts while threads work on a disk, until `end`.
    init(_ disk: SimulatedDisk, _ shared: SerialShared, seed: UInt64) {
        var random = Seed(seed &* 17)
        let first = disk.operationCount
        let moments = Set((0..<Self.cutCount).map { _ in first + random.below(Self.operationMax) })
        disk.onOperation = { [self] disk, operation in
            guard moments.contains(operation) else { return }
            let floor = shared.floor
            let image = GraphLife.image(of: disk, seed: seed &+ UInt64(operation))
            cuts.withLock { $0.append(Cut(disk: image, floor: floor)) }
        }
    }

    /// The disks that the cuts would leave.
    func end(_ disk: SimulatedDisk) -> [Cut] {
        disk.onOperation = nil
        return cuts.withLock { $0 }
    }
}
