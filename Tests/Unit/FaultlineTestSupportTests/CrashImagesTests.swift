import FaultlineDisk
import FaultlineTestSupport
import Testing

struct CrashImagesTests {
    let disk = SimulatedDisk(directories: ["/s"])

    /// Combinations only: no random ones.
    private var exhaustive: CrashOptions {
        var options = CrashOptions()
        options.sampleCount = 0
        return options
    }

    private func sector(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 512) }

    /// The first byte of each sector of `/s/f` in each image.
    private func sectors(_ options: CrashOptions) -> Set<[UInt8]> {
        Set(
            disk.crashImages(options).map { image in
                let bytes = image.disk.bytes(of: "/s/f") ?? []
                return stride(from: 0, to: bytes.count, by: 512).map { bytes[$0] }
            })
    }

    /// The names in `/s` in each image.
    private func entries(_ options: CrashOptions? = nil) -> Set<[String]> {
        Set(disk.crashImages(options ?? exhaustive).map { $0.disk.filePaths.map { String($0.dropFirst(3)) } })
    }

    @Test func findsOneImageWhereEverythingIsDurable() throws {
        try disk.createDurably("/s/f", sector(1), in: "/s")

        let images = disk.crashImages()

        #expect(images.isExhaustive)
        #expect(images.map { $0.disk.bytes(of: "/s/f") } == [sector(1)])
    }

    @Test func mixesOldMiddleAndNewVersionsOfSectors() throws {
        try disk.createDurably("/s/f", sector(1) + sector(1), in: "/s")
        let file = try disk.open("/s/f", for: .updating)
        try file.write(sector(2) + sector(2), at: 0)
        try file.write(sector(3), at: 0)

        #expect(sectors(exhaustive) == [[1, 1], [2, 1], [3, 1], [1, 2], [2, 2], [3, 2]])
        #expect(disk.crashImages(exhaustive).isExhaustive)
    }

    @Test func givesEachCombinationOnce() throws {
        try disk.createDurably("/s/f", sector(1) + sector(1) + sector(1), in: "/s")
        let file = try disk.open("/s/f", for: .updating)
        try file.write(sector(2) + sector(3) + sector(4), at: 0)

        let all = disk.crashImages(exhaustive).map { $0.disk.bytes(of: "/s/f") }

        #expect(all.count == 8)
        #expect(Set(all).count == 8)
    }

    @Test func knowsNothingOfSpaceThatWasNeverWritten() throws {
        try disk.createDurably("/s/old", [UInt8](repeating: 0xEE, count: 4096), in: "/s")
        try disk.remove("/s/old")
        try disk.synchronizeDirectory("/s")
        try disk.createDurably("/s/f", [], in: "/s")
        let file = try disk.open("/s/f", for: .updating)
        try file.write(sector(7) + sector(8), at: 0)

        var zeros = exhaustive
        zeros.fills = [.zeros]
        #expect(sectors(zeros) == [[], [0, 0], [7, 0], [0, 8], [7, 8]])
        var garbage = exhaustive
        garbage.fills = [.garbage]
        let images = disk.crashImages(garbage).compactMap { $0.disk.bytes(of: "/s/f") }
        #expect(images.count == 5)
        #expect(
            images.count { $0.count == 1024 && Set($0[..<512]).count > 100 && $0[512...].allSatisfy { $0 == 8 } } == 1)
    }

    @Test func putsAnotherFilesBytesIntoNewSpace() throws {
        try disk.createDurably("/s/old", (0..<2000).map { UInt8(truncatingIfNeeded: $0) }, in: "/s")
        try disk.createDurably("/s/f", [9, 9], in: "/s")
        let file = try disk.open("/s/f", for: .updating)
        try file.write([5], at: 99)

        var stale = exhaustive
        stale.fills = [.stale]
        let images = Set(disk.crashImages(stale).compactMap { $0.disk.bytes(of: "/s/f") })

        let zeros = [UInt8](repeating: 0, count: 97)
        #expect(images == [[9, 9], [9, 9] + (2..<100).map { UInt8($0) }, [9, 9] + zeros + [5]])
    }

    @Test func takesLengthAndBytesApart() throws {
        try disk.createDurably("/s/f", sector(1), in: "/s")
        let file = try disk.open("/s/f", for: .updating)
        try file.write(sector(2), at: 512)
        try file.write(sector(3), at: 1024)
        var zeros = exhaustive
        zeros.fills = [.zeros]

        #expect(sectors(zeros) == [[1], [1, 0], [1, 2], [1, 0, 0], [1, 2, 0], [1, 0, 3], [1, 2, 3]])
    }

    @Test func losesTheEntryOfASynchronizedFile() throws {
        let file = try disk.open("/s/f", for: .creating)
        try file.write([1], at: 0)
        try file.synchronize()

        #expect(Set(disk.crashImages(exhaustive).map { $0.disk.bytes(of: "/s/f") }) == [nil, [1]])
        try disk.synchronizeDirectory("/s")
        #expect(Set(disk.crashImages(exhaustive).map { $0.disk.bytes(of: "/s/f") }) == [[1]])
    }

    @Test func losesTheBytesOfADurableEntry() throws {
        let file = try disk.open("/s/f", for: .creating)
        try file.write([1], at: 0)
        try disk.synchronizeDirectory("/s")

        #expect(Set(disk.crashImages(exhaustive).map { $0.disk.bytes(of: "/s/f") }).isSuperset(of: [[], [0], [1]]))
    }

    @Test func losesARenameAndKeepsALaterRemoval() throws {
        try disk.createDurably("/s/new", [1], in: "/s")
        try disk.createDurably("/s/current", [2], in: "/s")
        try disk.createDurably("/s/old", [3], in: "/s")
        try disk.rename("/s/new", to: "/s/current")
        try disk.remove("/s/old")

        #expect(entries() == [["current", "new", "old"], ["current", "new"], ["current", "old"], ["current"]])
    }

    @Test func keepsTheOrderOfWhatHappensToOneFile() throws {
        try disk.open("/s/temporary", for: .creating).close()
        try disk.rename("/s/temporary", to: "/s/current")
        try disk.rename("/s/current", to: "/s/kept")

        #expect(entries() == [[], ["temporary"], ["current"], ["kept"]])
    }

    @Test func keepsTheOrderOfWhatHappensToOneName() throws {
        try disk.createDurably("/s/f", [1], in: "/s")
        try disk.rename("/s/f", to: "/s/f.old")
        let file = try disk.open("/s/f", for: .creating)
        try file.write([2], at: 0)
        try file.synchronize()

        let images = Set(
            disk.crashImages(exhaustive).map { [$0.disk.bytes(of: "/s/f"), $0.disk.bytes(of: "/s/f.old")] })

        #expect(images == [[[1], nil], [nil, [1]], [[2], [1]]])
    }

    @Test func losesADirectoryWithAllThatIsInIt() throws {
        try disk.createDirectory("/s/d")
        try disk.createDurably("/s/d/f", [1], in: "/s/d")

        #expect(entries() == [[], ["d/f"]])
        try disk.synchronizeDirectory("/s")
        #expect(entries() == [["d/f"]])
    }

    @Test func movesAFileBetweenDirectoriesInOneStep() throws {
        try disk.createDirectory("/s/d")
        try disk.synchronizeDirectory("/s")
        try disk.createDurably("/s/f", [1], in: "/s")
        try disk.rename("/s/f", to: "/s/d/f")

        #expect(entries() == [["f"], ["d/f"]])
        try disk.synchronizeDirectory("/s/d")
        #expect(entries() == [["f"], ["d/f"]], "the directory it left is still to be synchronized")
        try disk.synchronizeDirectory("/s")
        #expect(entries() == [["d/f"]])
    }

    @Test func removesADirectoryOnlyAfterWhatWasInIt() throws {
        try disk.createDirectory("/s/d")
        try disk.synchronizeDirectory("/s")
        try disk.createDurably("/s/d/f", [1], in: "/s/d")
        try disk.rename("/s/d/f", to: "/s/f")
        try disk.removeDirectory("/s/d")

        #expect(entries() == [["d/f"], ["f"]], "no image may lose the file")
    }

    @Test func tearsSectorsInside() throws {
        try disk.createDurably("/s/f", sector(1), in: "/s")
        let file = try disk.open("/s/f", for: .updating)
        try file.write(sector(2), at: 0)
        try file.write(sector(3), at: 0)
        var options = CrashOptions()
        options.tornOneIn = 1
        options.sampleCount = 400

        var torn = 0
        for image in disk.crashImages(options) {
            let bytes = try #require(image.disk.bytes(of: "/s/f"))
            guard let first = bytes.first, let last = bytes.last, first != last else { continue }
            torn += 1
            let cut = bytes.count { $0 == first }
            #expect(bytes[..<cut].allSatisfy { $0 == first } && bytes[cut...].allSatisfy { $0 == last })
            #expect(first == last + 1, "\(image)")
        }
        #expect(torn > 50)
    }

    @Test func leavesTheDiskAndOtherImagesAlone() throws {
        try disk.createDurably("/s/f", sector(1), in: "/s")
        try disk.open("/s/f", for: .updating).write(sector(2), at: 0)
        let images = Array(disk.crashImages(exhaustive))
        let before = images.map { $0.disk.bytes(of: "/s/f") }

        let changed = try disk.crashImages(exhaustive).map { image in
            try image.disk.open("/s/f", for: .updating).write([77], at: 5)
            try image.disk.createDurably("/s/g", [1], in: "/s")
            return image.disk.bytes(of: "/s/f")?[5]
        }

        #expect(changed == [77, 77])
        #expect(images.map { $0.disk.bytes(of: "/s/f") } == before)
        #expect(disk.bytes(of: "/s/f") == sector(2))
        #expect(disk.filePaths == ["/s/f"])
    }

    @Test func repeatsItselfForTheSameSeed() throws {
        let file = try disk.open("/s/f", for: .creating)
        var seed = Seed(4)
        try file.write(seed.bytes(20_000), at: 0)
        var options = CrashOptions()

        let first = disk.crashImages(options).map { $0.disk.bytes(of: "/s/f") }
        let second = disk.crashImages(options).map { $0.disk.bytes(of: "/s/f") }
        options.seed = 2
        let third = disk.crashImages(options).map { $0.disk.bytes(of: "/s/f") }

        #expect(!disk.crashImages(options).isExhaustive)
        #expect(first == second)
        #expect(first != third)
    }

    @Test func reachesTheExtremesAndEveryPrefixOfManySectors() throws {
        try disk.createDurably("/s/f", [UInt8](repeating: 0, count: 20 * 512), in: "/s")
        let file = try disk.open("/s/f", for: .updating)
        for index in 0..<20 { try file.write(sector(1), at: UInt64(index * 512)) }
        var options = exhaustive
        options.sampleCount = 200

        let images = sectors(options)

        for length in 0...20 {
            #expect(images.contains([UInt8](repeating: 1, count: length) + [UInt8](repeating: 0, count: 20 - length)))
        }
        for place in 0..<20 {
            #expect(images.contains((0..<20).map { $0 == place ? 1 : 0 }))
            #expect(images.contains((0..<20).map { $0 == place ? 0 : 1 }))
        }
        #expect(images.count > 150)
    }

    @Test func keepsSomeLegalSetsOfManyChanges() throws {
        for index in 0..<20 { try disk.open("/s/f\(index)", for: .creating).close() }
        var options = CrashOptions()
        options.sampleCount = 100

        let images = entries(options)

        #expect(images.contains([]) && images.contains { $0.count == 20 })
        #expect(images.count > 80)
    }

    @Test func leavesFilesOfSettledNamesAsTheyWereWritten() throws {
        try disk.createDurably("/s/f", sector(1), in: "/s")
        try disk.createDurably("/s/g", sector(1), in: "/s")
        try disk.open("/s/f", for: .updating).write(sector(2), at: 0)
        try disk.open("/s/g", for: .updating).write(sector(2), at: 0)
        var options = exhaustive
        options.settledNames = ["g"]

        let images = Array(disk.crashImages(options))

        #expect(images.map { $0.disk.bytes(of: "/s/f") } == [sector(1), sector(2)])
        #expect(images.map { $0.disk.bytes(of: "/s/g") } == [sector(2), sector(2)])
    }

    @Test func saysHowAnImageCameAbout() throws {
        try disk.createDurably("/s/f", sector(1), in: "/s")
        try disk.open("/s/f", for: .updating).write(sector(2), at: 0)

        let descriptions = disk.crashImages(exhaustive).map(\.description)

        #expect(
            descriptions == [
                "0 of 0 changes of entries, new space zeros; /s/f: 512 of 512...512 bytes, sector 0 version 0/1",
                "0 of 0 changes of entries, new space zeros; /s/f: 512 of 512...512 bytes, sector 0 version 1/1",
            ])
    }

    /// Every image of random work holds only bytes that were written there: compared with a plain record of all
    /// versions.
    @Test(arguments: Seed.list(10))
    func holdsNothingThatWasNotWritten(seed: Seed) throws {
        var random = seed
        try disk.createDurably("/s/f", [], in: "/s")
        let file = try disk.open("/s/f", for: .updating)
        var current: [UInt8] = []
        var durable: [UInt8] = []
        var history: [Int: Set<UInt8>] = [:]

        for _ in 0..<25 {
            if random.oneIn(6) {
                try file.synchronize()
                durable = current
                history = [:]
            } else {
                let offset = random.below(3000)
                let bytes = random.bytes(1 + random.below(900))
                try file.write(bytes, at: UInt64(offset))
                if current.count < offset + bytes.count {
                    for place in current.count..<(offset + bytes.count) { history[place, default: []].insert(0) }
                    current += [UInt8](repeating: 0, count: offset + bytes.count - current.count)
                }
                current.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
                for (index, byte) in bytes.enumerated() { history[offset + index, default: []].insert(byte) }
            }
            var options = CrashOptions()
            options.sampleCount = 20
            options.exhaustiveImageMax = 64
            options.fills = [.zeros]
            options.seed = random.next()
            for image in disk.crashImages(options) {
                let bytes = try #require(image.disk.bytes(of: "/s/f"))
                #expect(bytes.count >= durable.count && bytes.count <= current.count, "\(seed.replayLine)")
                let foreign = bytes.indices.first { place in
                    let old = place < durable.count ? durable[place] : 0
                    return bytes[place] != old && history[place]?.contains(bytes[place]) != true
                }
                #expect(foreign == nil, "\(seed.replayLine): \(image)")
            }
            #expect(disk.withOnlyWhatIsDurable().bytes(of: "/s/f") == durable, "\(seed.replayLine)")
        }
    }
}
