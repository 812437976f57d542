import FaultlineDisk
import FaultlineTestSupport
import Testing

struct CountingDiskTests {
    @Test func countsCallsAndBytesMoved() throws {
        let disk = CountingDisk(over: SimulatedDisk(directories: ["/s"]))
        let file = try disk.open("/s/f", for: .creating)
        try file.write([1, 2, 3], at: 0)
        try file.write([4], at: 3)
        _ = try file.bytes(at: 2, count: 100)
        try file.synchronize()
        try disk.synchronizeDirectory("/s")
        _ = try file.lock(byte: 0, exclusively: true)

        var expected = DiskCounts()
        expected.opens = 1
        expected.writes = 2
        expected.bytesWritten = 4
        expected.reads = 1
        expected.bytesRead = 2
        expected.synchronizations = 1
        expected.locks = 1
        #expect(disk.counts(of: "/s/f") == expected)
        expected.directorySynchronizations = 1
        #expect(disk.counts == expected)
    }

    @Test func countsADifferenceAndForgets() throws {
        let disk = CountingDisk(over: SimulatedDisk(directories: ["/s"]))
        try disk.createDurably("/s/f", [1], in: "/s")

        let (names, counts) = try disk.counting { try disk.names(in: "/s") }
        try disk.rename("/s/f", to: "/s/g")
        #expect(throws: DiskError.self) { try disk.remove("/s/f") }

        #expect(names == ["f"])
        #expect(
            counts.description
                == "0 opens, 0 reads of 0 bytes, 0 writes of 0 bytes, 0 reservations, 0 synchronizations, "
                + "0 of directories, 0 changes of entries, 1 questions, 0 locks"
        )
        #expect(disk.counts.entryChanges == 2)
        disk.reset()
        #expect(disk.counts == DiskCounts())
    }
}
