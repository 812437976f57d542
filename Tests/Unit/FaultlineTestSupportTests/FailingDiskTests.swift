import FaultlineDisk
import FaultlineTestSupport
import Glibc
import Testing

struct FailingDiskTests {
    let simulated: SimulatedDisk
    let disk: FailingDisk

    init() {
        simulated = SimulatedDisk(directories: ["/s"])
        disk = FailingDisk(over: simulated)
    }

    /// One call of each kind, in the order of `DiskOperation.Kind.allCases` where possible.
    private func useEverything() throws(DiskError) {
        try disk.createDirectory("/s/d")
        let file = try disk.open("/s/d/f", for: .creating)
        try file.write([1, 2, 3, 4], at: 0)
        try file.synchronize(site: "bytes")
        try disk.synchronizeDirectory("/s/d", site: "entries")
        _ = try file.contents()
        _ = try file.lock(byte: 0, exclusively: true)
        try file.unlock(byte: 0)
        try file.forgetCachedPages()
        try file.reserve(from: 0, through: 8_192)
        try file.releaseReserve()
        try file.cut(to: 2)
        file.close()
        _ = try disk.open("/s/d/f", for: .reading)
        _ = try disk.names(in: "/s/d")
        _ = try disk.isPresent("/s/d/f")
        _ = try disk.identity(of: "/s/d/f")
        _ = try disk.freeByteCount(in: "/s")
        _ = try disk.fileSystem(of: "/s")
        try disk.rename("/s/d/f", to: "/s/d/g")
        try disk.remove("/s/d/g")
        try disk.removeDirectory("/s/d")
    }

    @Test func failsEveryCallOnce() throws {
        var kinds: [DiskOperation.Kind] = []
        var ordinal = 0
        while true {
            let disk = FailingDisk(over: SimulatedDisk(directories: ["/s"]))
            disk.arm(DiskFault(ordinal: ordinal, errorNumber: EDQUOT))
            let run = FailingDiskTests(disk: disk)
            do throws(DiskError) {
                try run.useEverything()
                #expect(disk.hitCount == 0)
                break
            } catch {
                #expect(error.code == .quotaExceeded)
                #expect(disk.hitCount == 1)
                kinds += disk.failedOperations.map(\.kind)
                #expect(error.systemCall == kinds.last?.systemCall)
            }
            ordinal += 1
        }

        #expect(ordinal == 22)
        #expect(Set(kinds) == Set(DiskOperation.Kind.allCases))
    }

    private init(disk: FailingDisk) {
        simulated = SimulatedDisk()
        self.disk = disk
    }

    @Test func failsTheOneThatMatchesOnceOrFromThenOn() throws {
        let file = try disk.open("/s/f", for: .creating)
        func outcomes() -> [Bool] {
            (0..<5).map { index in
                do {
                    try file.write([1], at: UInt64(index))
                    _ = try file.byteCount()
                    return true
                } catch {
                    return false
                }
            }
        }

        disk.arm(DiskFault(of: [.write], ordinal: 2, errorNumber: ENOSPC))
        #expect(outcomes() == [true, true, false, true, true])
        disk.arm(DiskFault(of: [.write], ordinal: 2, errorNumber: ENOSPC, isSticky: true))
        #expect(outcomes() == [true, true, false, false, false])
        #expect(disk.matchCount == 5 && disk.hitCount == 3)
        disk.arm(DiskFault(of: [.write], on: "elsewhere", isSticky: true))
        #expect(outcomes() == [true, true, true, true, true])
        disk.arm(DiskFault(of: [.write], isSticky: true))
        disk.disarm()
        #expect(outcomes() == [true, true, true, true, true])
    }

    @Test func leavesPartOfAWriteBehind() throws {
        let file = try disk.open("/s/f", for: .creating)

        disk.arm(DiskFault(of: [.write], effect: .writesFirst(byteCount: 3)))
        #expect(throws: DiskError.self) { try file.write([1, 2, 3, 4, 5], at: 0) }
        #expect(simulated.bytes(of: "/s/f") == [1, 2, 3])
        disk.arm(DiskFault(of: [.write], effect: .writesShare(128)))
        #expect(throws: DiskError.self) { try file.write([6, 7, 8, 9], at: 3) }
        #expect(simulated.bytes(of: "/s/f") == [1, 2, 3, 6, 7])
        disk.arm(DiskFault(of: [.write]))
        #expect(throws: DiskError.self) { try file.write([6, 7, 8, 9], at: 9) }
        #expect(simulated.bytes(of: "/s/f") == [1, 2, 3, 6, 7])
    }

    @Test func reportsAsFailedWhatTookPlace() throws {
        disk.arm(DiskFault(of: [.create], errorNumber: EIO, effect: .takesPlace))

        #expect(throws: DiskError(errorNumber: EIO, systemCall: .open, path: "/s/f")) {
            try disk.open("/s/f", for: .creating)
        }
        #expect(simulated.filePaths == ["/s/f"])
    }

    /// A file of two durable sectors of ones, then a sector of twos and a new third one, and a failing synchronization.
    private func losePages(_ loss: PageLoss, seed: UInt64? = nil) throws -> DiskFile {
        let file = try disk.open("/s/f", for: .creating)
        try file.write([UInt8](repeating: 1, count: 1024), at: 0)
        try file.synchronize()
        try disk.synchronizeDirectory("/s")
        try file.write([UInt8](repeating: 2, count: 1024), at: 512)
        disk.arm(DiskFault(of: [.synchronize], effect: .losesPages(loss, seed: seed)))
        #expect(throws: DiskError(errorNumber: EIO, systemCall: .fdatasync, path: "/s/f")) { try file.synchronize() }
        return file
    }

    private func sectors(_ bytes: [UInt8]?) -> [UInt8] {
        stride(from: 0, to: bytes?.count ?? 0, by: 512).map { bytes?[$0] ?? 0 }
    }

    @Test func keepsReadingLostBytesThatNeverBecomeDurable() throws {
        let file = try losePages(.keepsNewBytes)

        #expect(sectors(try file.contents()) == [1, 2, 2])
        try file.synchronize()
        #expect(sectors(simulated.withOnlyWhatIsDurable().bytes(of: "/s/f")) == [1, 1, 0])
        #expect(
            sectors(simulated.afterProcessDeath().bytes(of: "/s/f")) == [1, 2, 2],
            "a restarted process reads the stale cache")
        // Writing a lost sector again makes it dirty again, with its cached bytes.
        try file.write([9], at: 512 + 100)
        try file.synchronize()
        let durable = simulated.withOnlyWhatIsDurable().bytes(of: "/s/f")
        #expect(sectors(durable) == [1, 2, 0])
        #expect(durable?[612] == 9)
    }

    @Test func forgetsTheLossOfASectorThatIsWrittenAgain() throws {
        let file = try losePages(.keepsNewBytes)
        try file.write([UInt8](repeating: 3, count: 1024), at: 512)
        try file.synchronize()

        #expect(simulated.crashImages().map { sectors($0.disk.bytes(of: "/s/f")) } == [[1, 3, 3]])
        try file.write([4], at: 600)
        let images = simulated.crashImages().map { $0.disk.bytes(of: "/s/f").map { Array($0[598..<602]) } }
        #expect(Set(images) == [[3, 3, 3, 3], [3, 3, 4, 3]])
    }

    @Test func goesBackToTheOldBytes() throws {
        let file = try losePages(.revertsToOldBytes)

        #expect(sectors(try file.contents()) == [1, 1])
        try file.synchronize()
        #expect(sectors(simulated.withOnlyWhatIsDurable().bytes(of: "/s/f")) == [1, 1])
    }

    @Test func dropsPagesAndKeepsTheLength() throws {
        let file = try losePages(.dropsPages)

        #expect(sectors(try file.contents()) == [1, 1, 0])
        try file.synchronize()
        #expect(sectors(simulated.withOnlyWhatIsDurable().bytes(of: "/s/f")) == [1, 1, 0])
    }

    @Test(arguments: PageLoss.allCases)
    func letsSomeSectorsReachTheMedium(loss: PageLoss) throws {
        var results: Set<[UInt8]> = []
        for seed in 0..<20 {
            let run = FailingDiskTests()
            _ = try run.losePages(loss, seed: UInt64(seed))
            results.insert(sectors(run.simulated.withOnlyWhatIsDurable().bytes(of: "/s/f")))
        }

        #expect(results == [[1, 1], [1, 2], [1, 1, 2], [1, 2, 2]])
    }

    @Test func findsNoLostBytesInAnyImage() throws {
        _ = try losePages(.keepsNewBytes)
        var options = CrashOptions()
        options.sampleCount = 0
        options.fills = [.zeros]

        let images = Set(simulated.crashImages(options).map { sectors($0.disk.bytes(of: "/s/f")) })

        #expect(images == [[1, 1], [1, 1, 0]])
    }
}
