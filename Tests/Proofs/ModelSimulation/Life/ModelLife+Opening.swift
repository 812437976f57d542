import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport

// Operations that close or crash the store and reopen it.

extension ModelLife {
    func open(_ kind: ModelKind, _ random: inout Seed) throws {
        switch kind {
        case .reopen: try reopen(options)
        case .killAndReopen:
            try forgetDropped()
            log.abandonForTests()
            try resume(on: disk.afterProcessDeath())
        case .cutPower: try cutPower(&random)
        case .openForReading: try openForReading(&random)
        case .openTwice: try openTwice()
        case .changeBudget:
            var changed = options
            changed.memoryBudget = random.pick([24_000, 60_000, 500_000, 64 << 20])
            try reopen(changed)
        case .changeSizes: try changeSizes(&random)
        case .rebuild:
            var once = options
            once.ignoresDerivedFiles = true
            let usual = options
            try reopen(once)
            try reopen(usual)
        default: try salvage()
        }
    }

    private func reopen(_ options: LogOptions) throws {
        try forgetDropped()
        try log.close()
        self.options = options
        log = try Self.open(failing, options)
        try dropIndexesOfNoTable()
        guard log.openReport.wasClean || options.ignoresDerivedFiles else {
            throw ModelViolation("a store that was closed is not clean")
        }
        settle()
        try expectRemembered()
        try compare(log.snapshot(), state, "after closing and opening")
    }

    /// Opens the store on the disk after a killed process or a power cut.
    func resume(on disk: SimulatedDisk) throws {
        move(to: disk)
        log = try Self.open(failing, options)
        try dropIndexesOfNoTable()
        // Opening has made its contents durable.
        settle()
        try expectRemembered()
        try compare(log.snapshot(), state, "after recovery")
    }

    private func cutPower(_ random: inout Seed) throws {
        var cut = CrashOptions()
        cut.exhaustiveItemMax = 0
        cut.sampleCount = 2
        cut.seed = random.next()
        var images = disk.crashImages(cut)
        var image = images.next()
        for _ in 0..<random.below(6) { image = images.next() ?? image }
        guard let image else { return }
        try forgetDropped()
        if options.durability == .sync {
            log.abandonForTests()
            return try resume(on: image.disk)
        }
        // The newest transactions may be lost, so the operations continue without the power cut.
        let found = try Self.open(image.disk, options)
        try expectPast(found.snapshot(), "after a power cut")
        found.abandonForTests()
        log.abandonForTests()
        try resume(on: disk.afterProcessDeath())
    }

    /// Checks that the store matches the state after one of the transactions, and that no durable one is missing.
    private func expectPast(_ snapshot: Snapshot, _ when: String) throws {
        guard let least = past.first, snapshot.sequence >= least.sequence else {
            throw ModelViolation("\(when), the store is at \(snapshot.sequence), though \(past[0].sequence) is durable")
        }
        guard snapshot.sequence <= log.snapshot().sequence,
            let expected = past.last(where: { $0.sequence <= snapshot.sequence })
        else { throw ModelViolation("\(when), transaction \(snapshot.sequence) exists, but no operation wrote it") }
        // The result depends on the configuration.
        try unseen { try compare(snapshot, expected.state, when) }
    }

    /// Opens the store for reading beside the open log, as another process does: by the checkpoint, or from the segments
    /// alone.
    private func openForReading(_ random: inout Seed) throws {
        var reading = options
        reading.access = .reading
        reading.ignoresDerivedFiles = random.oneIn(2)
        let reader = try Self.open(FailingDisk(over: disk), reading)
        try expectPast(reader.snapshot(), "for a reader")
        do {
            _ = try reader.write(author: nil) { _ in }
            throw ModelViolation("a reader may write")
        } catch let error as LogError where error.code == .readOnly {
            try reader.close()
        }
        try glance()
    }

    private func openTwice() throws {
        let second = try Self.open(failing, options)
        guard second === log else { throw ModelViolation("opening a store again gives another log") }
        try compare(second.snapshot(), state, "opened twice")
        try second.close()
        try commit { try insert(ModelRow(key: nil, payload: [1]), in: 18, &$0) }
    }

    /// Changes the sizes until the next change.
    private func changeSizes(_ random: inout Seed) throws {
        var changed = configuration.options
        changed.seed = options.seed
        changed.memoryBudget = options.memoryBudget
        changed.invariantWatch = options.invariantWatch
        if options.segmentByteCount == changed.segmentByteCount {
            changed.segmentByteCount = random.pick([3_000, 30_000])
            changed.frameByteCount = random.pick([600, 5_000, 1 << 20])
            changed.checkpointByteCount = random.pick([5_000, 1 << 20])
            changed.manifestByteCount = random.pick([500, 1 << 20])
            changed.isCompressingBlobs.toggle()
        }
        try reopen(changed)
    }

    /// Salvages a copy of the store as it is after the process was killed.
    ///
    /// The new store must have all contents.
    private func salvage() throws {
        let copy = disk.afterProcessDeath()
        var sizes = options
        sizes.maintenance = .manual
        let salvage = Salvage(
            to: "/d/salvaged", on: copy, clock: Clock { 9 }, options: sizes, deriver: ModelDeriver())
        try salvage.checkDestination(outside: Self.path)
        let report = try salvage.run(
            try SalvageSource.open(Self.path, on: copy), finding: { _ in }, progress: { _, _, _ in })
        guard !report.hasLoss else { throw ModelViolation("salvaging a sound store loses something: \(report)") }
        let salvaged = try Self.open(copy, sizes, path: "/d/salvaged")
        try compare(salvaged.snapshot(), state, "in the salvaged store")
        salvaged.abandonForTests()
    }
}
