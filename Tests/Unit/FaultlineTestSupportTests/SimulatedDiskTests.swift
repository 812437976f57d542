import FaultlineDisk
import FaultlineTestSupport
import Testing

struct SimulatedDiskTests {
    let disk = SimulatedDisk(directories: ["/s"])

    private func operate() throws -> DiskFile {
        let file = try disk.open("/s/a", for: .creating)
        try file.write([1, 2, 3], at: 0)
        try file.synchronize(site: "a.bytes")
        try disk.synchronizeDirectory("/s", site: "s.entries")
        try disk.rename("/s/a", to: "/s/b")
        return file
    }

    @Test func callsTheHookBeforeEveryMutatingOperation() throws {
        // Safe because the hook is called on the thread of the test.
        nonisolated(unsafe) var seen: [String] = []
        disk.onOperation = { disk, index in
            seen.append("\(index): \(disk.filePaths) \(disk.bytes(of: "/s/a").map { "\($0)" } ?? "-")")
        }

        let file = try operate()
        _ = try file.contents()
        _ = try disk.names(in: "/s")

        #expect(
            seen == [
                "0: [] -", "1: [\"/s/a\"] []", "2: [\"/s/a\"] [1, 2, 3]", "3: [\"/s/a\"] [1, 2, 3]",
                "4: [\"/s/a\"] [1, 2, 3]",
            ])
        #expect(disk.operationCount == 5)
    }

    @Test func writesDownWhatChangesIt() throws {
        disk.recordsTrace = true

        _ = try operate()

        #expect(
            disk.trace.map(\.description) == [
                "create /s/a", "write /s/a at 0, 3 bytes", "synchronize /s/a (a.bytes)",
                "synchronizeDirectory /s (s.entries)",
                "rename /s/a to /s/b",
            ])
    }

    @Test func takesImagesInsideTheHook() throws {
        // Safe because the hook is called on the thread of the test.
        nonisolated(unsafe) var counts: [Int] = []
        disk.onOperation = { disk, _ in counts.append(disk.crashImages().count { _ in true }) }

        _ = try operate()

        // Nothing; with or without an empty file; with or without the entry, and in it the write or not; bytes durable;
        // entry durable.
        #expect(counts.count == 5)
        #expect(counts[0] == 1 && counts[1] == 2 && counts[2] > 3 && counts[3] == 2 && counts[4] == 1)
    }

    @Test func leavesOutTheSynchronizationsItIsToldTo() throws {
        disk.ignoredSynchronizations = { $0.site == "a.bytes" }

        _ = try operate()

        #expect(disk.withOnlyWhatIsDurable().bytes(of: "/s/a") == [])
        #expect(disk.synchronizationCounts == ["a.bytes": 1, "s.entries": 1])
    }

    @Test func tellsWhichSynchronizationItIs() throws {
        // Safe because the hook is called on the thread of the test.
        nonisolated(unsafe) var seen: [SimulatedDisk.Synchronization] = []
        disk.ignoredSynchronizations = {
            seen.append($0)
            return false
        }

        let file = try operate()
        try file.synchronize(site: "a.bytes")

        #expect(
            seen.map(\.description) == [
                "0: a.bytes 0 of /s/a", "1: s.entries 0 of directory /s", "2: a.bytes 1 of /s/a",
            ])
    }

    @Test func keepsWhatWasWrittenWhenOnlyTheProcessDies() throws {
        let file = try operate()
        try file.write([9], at: 1)
        #expect(try file.lock(byte: 0, exclusively: true))

        let next = disk.afterProcessDeath()

        #expect(next.bytes(of: "/s/b") == [1, 9, 3])
        #expect(try next.open("/s/b", for: .updating).lock(byte: 0, exclusively: true))
        #expect(next.withOnlyWhatIsDurable().bytes(of: "/s/a") == [1, 2, 3])
        #expect(next.withOnlyWhatIsDurable().bytes(of: "/s/b") == nil)
    }

    @Test func writesWhatFitsOnAFullDisk() throws {
        let file = try disk.open("/s/a", for: .creating)
        try file.write([UInt8](repeating: 1, count: 100), at: 0)
        disk.byteCapacity = 150

        #expect(throws: DiskError(code: .noSpace, systemCall: .pwrite, errorNumber: 28, path: "/s/a", offset: 150)) {
            try file.write([UInt8](repeating: 2, count: 100), at: 90)
        }
        #expect(try file.byteCount() == 150)
        #expect(try disk.freeByteCount(in: "/s") == 0)
        try file.write([UInt8](repeating: 3, count: 150), at: 0)
        try file.synchronize()
        try disk.remove("/s/a")
        file.close()
        try disk.synchronizeDirectory("/s")
        #expect(try disk.freeByteCount(in: "/s") == 150)
    }

    @Test func refusesFilesThatNobodyCouldHold() throws {
        let file = try disk.open("/s/a", for: .creating)

        for offset in [UInt64(SimulatedDisk.fileByteCountMax), .max, UInt64(Int64.max)] {
            #expect(
                throws: DiskError(
                    code: .fileTooLarge, systemCall: .pwrite, errorNumber: 27, path: "/s/a", offset: offset)
            ) {
                try file.write([1], at: offset)
            }
        }
    }

    @Test func flipsBitsInTheCacheAndOnTheMedium() throws {
        _ = try operate()

        #expect(disk.flip(bit: 8 + 7, of: "/s/b"))
        #expect(!disk.flip(bit: 24, of: "/s/b"))
        #expect(!disk.flip(bit: 0, of: "/s/none"))

        #expect(disk.bytes(of: "/s/b") == [1, 0x82, 3])
        #expect(disk.withOnlyWhatIsDurable().bytes(of: "/s/a") == [1, 0x82, 3])
    }

    @Test func placesDurableFiles() throws {
        try disk.place([4, 5], at: "/s/x")

        #expect(try disk.contents(of: "/s/x") == [4, 5])
        #expect(disk.withOnlyWhatIsDurable().bytes(of: "/s/x") == [4, 5])
        #expect(disk.crashImages().count { _ in true } == 1)
    }

    @Test func givesTheNumbersOfForgottenFilesOutAgain() throws {
        for round in 0..<50 {
            try disk.createDurably("/s/f\(round)", [1], in: "/s")
            try disk.remove("/s/f\(round)")
            try disk.synchronizeDirectory("/s")
        }
        try disk.createDurably("/s/last", [1], in: "/s")

        #expect(try disk.identity(of: "/s/last").inode < 20)
    }
}
