import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

/// The starting disk of a leg, and the content of the store on it.
struct FaultOriginStore: Sendable {
    static let path = "/d/store"

    let disk: SimulatedDisk
    let promises: FaultPromises
    /// Whether checkpoints and runs are damaged.
    let isRotten: Bool

    init(_ origin: FaultLeg.Origin, _ options: LogOptions, seed: UInt64) throws {
        let base = SimulatedDisk(directories: ["/d"])
        let nothing = FaultPromises(0, CrashModel(), acknowledgesDurable: options.durability == .sync)
        isRotten = origin == .rotten
        guard origin != .nothing, origin != .aborted else {
            disk = origin == .aborted ? try Self.aborted(base, options) : base
            promises = nothing
            return
        }
        let failing = FailingDisk(over: base)
        var options = options
        options.retention = origin.hasWindow ? RetentionWindow(nanoseconds: .max, byteCount: .max) : nil
        let life = FaultLife(Self.path, on: failing, options, nothing, seed: ~seed)
        life.take(.open)
        for _ in 0..<3 { life.run([.commit(changeCount: 8), .commitBlobs([300]), .checkpoint]) }
        life.run([.commit(changeCount: 20), .checkpoint, .read])
        if origin.hasWindow {
            for _ in 0..<2 { life.run([.commit(changeCount: 40), .checkpoint, .compact]) }
            life.run([.commit(changeCount: 5), .read])
        }
        if origin == .killed || origin == .cut {
            life.run([.commit(changeCount: 5), .read])
        } else {
            life.take(.close)
        }
        if let (_, error) = life.errors.first { throw error }
        if let violation = life.violation { throw CrashViolation(violation) }
        switch origin {
        case .nothing, .aborted, .closed, .killed, .past: disk = base.afterProcessDeath()
        case .litteredPast: disk = try Self.litteredPast(base)
        case .littered: disk = try Self.littered(base)
        case .rotten: disk = Self.rotten(base)
        case .cut: disk = try Self.torn(Self.cut(life, failing, base, seed))
        }
        life.letGo()
        var settled = life.promises
        settled.find(try Self.sequence(disk, options))
        // A power cut may still lose data that the process had not made durable when it was killed.
        if origin != .killed { settled.settle() }
        promises = settled
    }

    /// The remains of a process killed while it created a store: everything but the identity, which comes last.
    private static func aborted(_ base: SimulatedDisk, _ options: LogOptions) throws -> SimulatedDisk {
        let failing = FailingDisk(over: base)
        failing.arm(DiskFault(of: [.rename], isSticky: true))
        do {
            _ = try Log.open(path, on: failing, clock: Clock { 3_000 }, options: options, deriver: CrashDeriver())
        } catch {
            return base.afterProcessDeath()
        }
        throw CrashViolation("a store was created without its identity")
    }

    /// Files of an aborted recovery, empty but for their length.
    private static func littered(_ base: SimulatedDisk) throws -> SimulatedDisk {
        let disk = base.afterProcessDeath()
        let files: [(FileKind, Int)] = [
            (.manifest, 10), (.tableCheckpoint, 100), (.hotSegment, 64), (.blobSegment, 200),
        ]
        for (place, (kind, byteCount)) in files.enumerated() {
            let name = FileName.numbered(kind, 0xF0 + UInt64(place))
            try disk.place([UInt8](repeating: 0, count: byteCount), at: path + "/" + name)
        }
        try disk.place([1], at: path + "/IDENTITY.tmp")
        return disk
    }

    /// A file that no listing names, and a listing of which only the beginning was written.
    private static func litteredPast(_ base: SimulatedDisk) throws -> SimulatedDisk {
        let disk = base.afterProcessDeath()
        let folder = path + "/" + FileName.retained + "/"
        try disk.place([UInt8](repeating: 0, count: 100), at: folder + FileName.numbered(.hotSegment, 0xF0))
        try disk.place([UInt8](repeating: 0, count: 10), at: folder + FileName.numbered(.manifest, 0xF1))
        return disk
    }

    /// Damages the footers of the newest checkpoint and of the newest run.
    private static func rotten(_ base: SimulatedDisk) -> SimulatedDisk {
        let disk = base.afterProcessDeath()
        for kind in ["/t-", "/r-"] {
            guard let path = disk.filePaths.last(where: { $0.contains(kind) }), let bytes = disk.bytes(of: path) else {
                continue
            }
            disk.corrupt(path, at: bytes.count - 10) { $0 ^ 0x10 }
        }
        return disk
    }

    /// One of many disks after a power cut, while commits are not durable yet.
    private static func cut(
        _ life: FaultLife, _ failing: FailingDisk, _ base: SimulatedDisk, _ seed: UInt64
    ) -> SimulatedDisk {
        var random = Seed(seed)
        failing.arm(DiskFault(of: [.synchronize], ordinal: random.below(4), isSticky: true))
        life.run([.commitBlobs([2_000, 300]), .commit(changeCount: 30), .commit(changeCount: 5)])
        var images = base.crashImages()
        for _ in 0..<random.below(12) { _ = images.next() }
        return images.next()?.disk ?? base.withOnlyWhatIsDurable()
    }

    /// Leaves a part of a frame behind the log, so that the log goes on in a new segment.
    private static func torn(_ disk: SimulatedDisk) throws -> SimulatedDisk {
        guard let segment = disk.filePaths.last(where: { $0.contains("/s-") }) else { return disk }
        let file = try disk.open(segment, for: .updating)
        defer { file.close() }
        try file.write([UInt8](repeating: 0xA5, count: 40), at: file.byteCount())
        return disk
    }

    /// The newest of the uncertain transactions, as the first opening finds it.
    private static func sequence(_ disk: SimulatedDisk, _ options: LogOptions) throws -> UInt64 {
        let log = try Log.open(
            path, on: disk.afterProcessDeath(), clock: Clock { 3_000 }, options: options, deriver: CrashDeriver())
        defer { log.abandonForTests() }
        return log.snapshot().sequence
    }
}
