import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

/// A store that is killed repeatedly, with limits so small that all files roll, spill and rotate.
struct KillStore {
    let path: String
    let seed: UInt64

    var values: KillValues { KillValues(seed: seed) }

    /// Opens the store, for the process to be killed or for the check afterwards.
    ///
    /// - Parameters:
    ///   - access: Whether it is written.
    ///   - directory: Another directory with the store; its own for nil.
    ///   - disk: The disk of the directory.
    /// - Returns: The log.
    /// - Throws: The errors of the log.
    func open(
        _ access: LogAccess, in directory: String? = nil, on disk: Disk = PosixDisk()
    ) throws(LogError) -> Log {
        var random = Seed(seed ^ 0x5EED)
        var options = LogOptions()
        options.segmentByteCount = random.pick([6_000, 20_000, 100_000])
        options.checkpointByteCount = random.pick([6_000, 30_000, 200_000])
        options.frameByteCount = random.pick([512, 1_500, 100_000])
        options.manifestByteCount = random.pick([600, 3_000, 1 << 20])
        options.manifestGrowth = random.pick([1, 4])
        options.memoryBudget = random.pick([4 << 20, 1 << 20, 200_000])
        // A killed process loses nothing from the cache of the system, so asynchronous commits are as safe here.
        options.durability = random.oneIn(4) ? .async : .sync
        options.access = access
        return try Log.open(
            directory ?? path, on: disk, clock: .system, options: options, deriver: CrashDeriver())
    }
}
