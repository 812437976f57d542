internal import FaultlineTestSupport
internal import FaultlineDisk
internal import Synchronization

extension GraphLife {
    /// The power is cut before one of at most this many disk operations in a save.
    private static let operationMax = 12

    /// Kills the process, or cuts the power, also in the middle of a save.
    ///
    /// The replayed records, and the index entries derived from them, must match the saved state.
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
            // An interrupted save may exist or not, but only as a whole.
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

    /// One of the disks that a power cut may leave at this moment.
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

/// The disk image that a disk's hook has taken.
private final class CaughtImage: Sendable {
    private let image = Guarded<SimulatedDisk?>(nil)
    var value: SimulatedDisk? { image.withLock { $0 } }
    func set(_ new: SimulatedDisk) { image.withLock { $0 = new } }
}
