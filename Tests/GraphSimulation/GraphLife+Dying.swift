internal import FaultlineTestSupport
internal import Synchronization

extension GraphLife {
    /// Operations of the disk in a save at most, of those before which the power is cut.
    private static let operationMax = 12

    /// The process is killed, or the power is cut, also in the middle of a save: what is replayed, and the index entries
    /// that are derived from it, must be what was saved.
    func die() throws {
        guard let disk = world.simulatedDisk else {
            note("kill")
            try world.reopenAfterDeath()
            try beginAnew()
            return try world.verify()
        }
        note("power cut")
        let before = world.committed
        let seed = random.next()
        let moment = random.oneIn(4) ? Int.max : disk.operationCount + random.below(Self.operationMax)
        let caught = CaughtImage()
        disk.onOperation = { disk, operation in
            if operation == moment { caught.set(Self.image(of: disk, seed: seed)) }
        }
        _ = try session.save()
        disk.onOperation = nil
        let image = caught.value
        try world.reopenAfterDeath(on: image ?? Self.image(of: disk, seed: seed))
        do { try beginAnew() } catch {
            // A save that was cut may be there or not, as a whole.
            guard image != nil else { throw error }
            let after = world.committed
            world.forget(since: before)
            do { try beginAnew() } catch let other {
                throw GraphViolation(
                    "with the save of \(after.nodes.count) objects: \(error); without it: \(other)")
            }
        }
        try world.verify()
    }

    /// One of the disks that a power cut may leave now.
    static func image(of disk: SimulatedDisk, seed: UInt64) -> SimulatedDisk {
        var options = CrashOptions()
        options.exhaustiveImageMax = 0
        options.sampleCount = 8
        options.seed = seed
        let images = Array(disk.crashImages(options).prefix(40))
        var random = Seed(seed)
        return images.isEmpty ? disk.withOnlyWhatIsDurable() : random.pick(images).disk
    }
}

/// What the hook of a disk has seen, for the one who asked.
private final class CaughtImage: Sendable {
    private let image = Mutex<SimulatedDisk?>(nil)
    var value: SimulatedDisk? { image.withLock { $0 } }
    func set(_ new: SimulatedDisk) { image.withLock { $0 = new } }
}
