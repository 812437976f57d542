import FaultlineDisk
import FaultlineTestSupport
import Testing

/// A small log of numbers, crashed between any two of its operations: the errors that the harness must find, and the
/// ones that it must not.
struct CrashCanaryTests {
    /// Numbers in a file, each with a checksum that begins with its offset; after `rotationCount` of them the log
    /// continues in a file created beside it and renamed.
    struct NumberLog {
        static let rotationCount = 6
        let disk: Disk
        let isSeeded: Bool
        var file: DiskFile
        var numbers: [UInt64] = []

        static func open(on disk: Disk, isSeeded: Bool) throws(DiskError) -> NumberLog {
            let file = try disk.open("/s/new", for: .creating)
            try file.synchronize(site: "new.bytes")
            try disk.rename("/s/new", to: "/s/log")
            try disk.synchronizeDirectory("/s", site: "new.entry")
            return NumberLog(disk: disk, isSeeded: isSeeded, file: file)
        }

        /// The numbers up to the first record that is not whole.
        static func read(_ file: DiskFile, isSeeded: Bool) throws(DiskError) -> [UInt64] {
            var numbers: [UInt64] = []
            let bytes = try file.contents()
            bytes.withUnsafeBytes { buffer in
                var reader = ByteReader(buffer)
                while let number = reader.readUInt64(), let checksum = reader.readUInt32(),
                    checksum == self.checksum(of: number, at: numbers.count, isSeeded: isSeeded)
                {
                    numbers.append(number)
                }
            }
            return numbers
        }

        static func checksum(of number: UInt64, at index: Int, isSeeded: Bool) -> UInt32 {
            withUnsafeBytes(of: number.littleEndian) { CRC32C.checksum($0, seed: isSeeded ? UInt32(index + 7) : 7) }
        }

        func encode(_ numbers: [UInt64], from first: Int) -> [UInt8] {
            var writer = ByteWriter()
            for (index, number) in numbers.enumerated() {
                writer.append(number)
                writer.append(Self.checksum(of: number, at: first + index, isSeeded: isSeeded))
            }
            return writer.array()
        }

        mutating func append(_ number: UInt64) throws(DiskError) {
            try file.write(encode([number], from: numbers.count), at: UInt64(numbers.count * 12))
            try file.synchronize(site: "append.bytes")
            numbers.append(number)
            if numbers.count % Self.rotationCount == 0 { try rotate() }
        }

        mutating func rotate() throws(DiskError) {
            if try disk.isPresent("/s/new") { try disk.remove("/s/new") }
            let next = try disk.open("/s/new", for: .creating)
            try next.write(encode(numbers, from: 0), at: 0)
            try next.synchronize(site: "rotate.bytes")
            try disk.rename("/s/new", to: "/s/log")
            try disk.synchronizeDirectory("/s", site: "rotate.entry")
            file.close()
            file = next
        }
    }

    /// Writes 20 numbers and crashes before each operation; returns the images in which an acknowledged number is
    /// missing or the numbers are not the issued ones, and the count of all images.
    private func crash(leavingOut site: SyncSite? = nil, isSeeded: Bool = true) throws -> (
        wrong: [String], imageCount: Int
    ) {
        let disk = SimulatedDisk(directories: ["/s"])
        if let site { disk.ignoredSynchronizations = { $0.site == site } }
        // Safe because the hook is called on the thread of the test.
        nonisolated(unsafe) var acknowledged: UInt64 = 0
        // Safe because the hook is called on the thread of the test.
        nonisolated(unsafe) var wrong: [String] = []
        // Safe because the hook is called on the thread of the test.
        nonisolated(unsafe) var imageCount = 0
        disk.onOperation = { disk, index in
            for image in disk.crashImages() {
                imageCount += 1
                let numbers =
                    (try? image.disk.open("/s/log", for: .reading)).flatMap {
                        try? NumberLog.read($0, isSeeded: isSeeded)
                    } ?? []
                if numbers != Array(0..<UInt64(numbers.count)) || numbers.count < acknowledged
                    || numbers.count > acknowledged + 1
                {
                    wrong.append("before operation \(index), \(numbers.count) of \(acknowledged): \(image)")
                }
            }
        }
        var log = try NumberLog.open(on: disk, isSeeded: isSeeded)
        for number in 0..<UInt64(20) {
            try log.append(number)
            acknowledged = number + 1
        }
        #expect(disk.synchronizationCounts.count == 5)
        return (wrong, imageCount)
    }

    @Test func findsNothingWrongWithARightProgram() throws {
        let (wrong, imageCount) = try crash()

        #expect(wrong.isEmpty, "\(wrong.first ?? "")")
        #expect(imageCount > 300)
    }

    /// `new.bytes` is not among them: the file is empty then, so its omission loses nothing.
    @Test(arguments: ["append.bytes", "rotate.bytes", "rotate.entry", "new.entry"] as [SyncSite])
    func findsEverySynchronizationThatIsLeftOut(site: SyncSite) throws {
        #expect(try !crash(leavingOut: site).wrong.isEmpty)
    }

    /// Bytes of another file in space that was never written count as a record unless the checksum includes the offset.
    @Test func findsRecordsThatAreWholeInTheWrongPlace() throws {
        #expect(try !crash(isSeeded: false).wrong.isEmpty)
    }
}
